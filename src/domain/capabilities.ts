// A required capability is met by the same id at the same or a later version: exact Semantic Versioning precedence.
// It knows Cards only as lists of capabilities, and whether a Card is in force.
import { refuse, type Refusal } from '../protocol/refusals.ts';
import { compareTimestamps } from '../protocol/timestamps.ts';
import type { AgentCardAggregate, CapabilityRef } from './aggregates.ts';

/** Is every required capability among the offered ones, at its minimum version? */
export function satisfies(offered: readonly CapabilityRef[], required: readonly CapabilityRef[]): boolean {
  return required.every((minimum) => offered.some((capability) => meets(capability, minimum)));
}

/**
 * May work that pinned this version go on with what is offered now? As semantic versions have it: not with a lower one, and
 * not across a major version, nor across a minor one before 1.0.0 (MWP-IDN-003b).
 */
export function keepsPromise(offered: readonly CapabilityRef[], pin: CapabilityRef): boolean {
  return offered.some((capability) => meets(capability, pin) && generation(capability) === generation(pin));
}

function generation({ version }: CapabilityRef): string {
  const [major = '', minor = ''] = parse(version).core;
  return major === '0' ? `0.${minor}` : major;
}

/** For each required capability the best version offered: what an acceptance pins (commands.md 1.21). */
export function pinsFor(offered: readonly CapabilityRef[], required: readonly CapabilityRef[]): CapabilityRef[] {
  return required.flatMap((minimum) => {
    const [best] = offered
      .filter((capability) => meets(capability, minimum))
      .sort((a, b) => compareVersions(b.version, a.version));
    return best ? [{ id: best.id, version: best.version }] : [];
  });
}

/** May this Agent be asked to do work that requires these capabilities? */
export function checkEligibleCard(
  card: AgentCardAggregate | undefined,
  required: readonly CapabilityRef[],
  now: string,
): Refusal | undefined {
  if (!card) return refuse('INVALID_COMMAND', 'the Agent has no registered Agent Card');
  const lapsed = card.validUntil !== undefined && compareTimestamps(now, card.validUntil) >= 0;
  if (card.status !== 'active' || lapsed) return refuse('AUTH_FORBIDDEN', "the Agent's Card is not active");
  if (satisfies(card.capabilities, required)) return undefined;
  return refuse('INVALID_COMMAND', "the Agent's Card does not offer every required capability");
}

function meets(capability: CapabilityRef, minimum: CapabilityRef): boolean {
  return capability.id === minimum.id && compareVersions(capability.version, minimum.version) >= 0;
}

/** Negative, zero or positive. Numbers may be of any length; build metadata does not count. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  for (let position = 0; position < 3; position += 1) {
    const order = compareNumbers(left.core[position] ?? '0', right.core[position] ?? '0');
    if (order !== 0) return order;
  }
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return right.prerelease.length - left.prerelease.length; // a release comes after its own pre-releases
  }
  return comparePrereleases(left.prerelease, right.prerelease);
}

function parse(version: string): { core: string[]; prerelease: string[] } {
  const [withoutBuild = ''] = version.split('+');
  const dash = withoutBuild.indexOf('-');
  if (dash < 0) return { core: withoutBuild.split('.'), prerelease: [] };
  return { core: withoutBuild.slice(0, dash).split('.'), prerelease: withoutBuild.slice(dash + 1).split('.') };
}

function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  for (let position = 0; position < Math.min(a.length, b.length); position += 1) {
    const order = compareIdentifiers(a[position] ?? '', b[position] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numeric identifiers by value and below all others, the others by their ASCII text. */
function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [isNumber(a), isNumber(b)];
  if (aIsNumber && bIsNumber) return compareNumbers(a, b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return compareText(a, b);
}

function isNumber(identifier: string): boolean {
  return /^[0-9]+$/.test(identifier);
}

function compareNumbers(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+(?=.)/, ''), b.replace(/^0+(?=.)/, '')];
  return left.length - right.length || compareText(left, right);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
