// The process that verifies: slices of native verification and slices of stages 1 to 6 by turns, so that both see the
// machine in the same mood. What it measures is the built code of a checkout, as a service runs it.
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as RegistryModule from '../../src/trust/registry-snapshot.ts';
import type * as VerifyModule from '../../src/trust/verify.ts';
import type { KeyBinding } from '../../src/trust/evidence.ts';
import { answerOrders } from './child.ts';
import { median } from './samples.ts';

export interface VerifierOrder {
  checkouts: readonly string[];
  organizationId: string;
  bindings: KeyBinding[];
  commands: { text: string; signingText: string; signature: string; publicKey: string }[];
  turns: number;
  warmUpTurns: number;
  /** Verifications of each slice of a turn. */
  perTurn: number;
  /** Of stages 1 to 6 at once, as a busy service has them. */
  inHand: number;
}

/** Microseconds of one verification. `cpu`: of all threads of this process. */
export interface Cost {
  cpu: number;
  elapsed: number;
}

export interface VerifierFigures {
  floor: Cost;
  /** By checkout. `ratio`: of the floor's time to this one's, in the same turn. */
  staged: { cost: Cost; ratio: Cost }[];
}

interface Sample {
  bytes: Buffer;
  message: Buffer;
  signature: Buffer;
  key: KeyObject;
}

/** `first`: where in the samples a slice begins. */
type Slice = (first: number, count: number) => Promise<void> | void;

answerOrders(async (order: VerifierOrder): Promise<VerifierFigures> => {
  const { turns, warmUpTurns, perTurn } = order;
  const samples = order.commands.map(({ text, signingText, signature, publicKey }) => ({
    bytes: Buffer.from(text, 'utf8'),
    message: Buffer.from(signingText, 'utf8'),
    signature: Buffer.from(signature, 'base64url'),
    key: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' }),
  }));
  const floor = nativeSlice(samples);
  const staged = await Promise.all(order.checkouts.map((checkout) => stagedSlice(checkout, samples, order)));

  const floorCosts: Cost[] = [];
  const stagedCosts = staged.map((): Cost[] => []);
  for (let turn = -warmUpTurns; turn < turns; turn += 1) {
    const first = Math.abs(turn) * perTurn;
    const floorCost = await costOf(floor, first, perTurn);
    const costs: Cost[] = [];
    for (const slice of staged) costs.push(await costOf(slice, first, perTurn));
    if (turn < 0) continue;
    floorCosts.push(floorCost);
    for (const [at, cost] of costs.entries()) stagedCosts[at]?.push(cost);
  }
  const ratioTo = (costs: Cost[], time: keyof Cost) =>
    median(costs.map((cost, at) => (floorCosts[at] as Cost)[time] / cost[time]));
  return {
    floor: medianCost(floorCosts),
    staged: stagedCosts.map((costs) => ({
      cost: medianCost(costs),
      ratio: { cpu: ratioTo(costs, 'cpu'), elapsed: ratioTo(costs, 'elapsed') },
    })),
  };
});

/** The synchronous form with a ready key: nothing of it is spent on threads. */
function nativeSlice(samples: readonly Sample[]): Slice {
  return (first, count) => {
    for (let at = first; at < first + count; at += 1) {
      const { message, key, signature } = samples[at % samples.length] as Sample;
      if (!verify(null, message, key, signature)) throw new Error('a good signature failed');
    }
  };
}

async function stagedSlice(checkout: string, samples: readonly Sample[], order: VerifierOrder): Promise<Slice> {
  const load = <Module>(path: string) => import(pathToFileURL(join(checkout, 'dist', path)).href) as Promise<Module>;
  const { verifyDocument } = await load<typeof VerifyModule>('trust/verify.js');
  const { evidenceFromSnapshot, registrySnapshot } = await load<typeof RegistryModule>('trust/registry-snapshot.js');
  const { organizationId, bindings, inHand } = order;
  const evidence = evidenceFromSnapshot(registrySnapshot(organizationId, bindings));
  return async (first, count) => {
    let next = first;
    const worker = async () => {
      while (next < first + count) {
        const { bytes } = samples[next++ % samples.length] as Sample;
        const verified = await verifyDocument('command', { bytes }, organizationId, evidence);
        if (!verified.ok) throw new Error(`a good Command failed: ${verified.refusal.message}`);
      }
    };
    await Promise.all(Array.from({ length: inHand }, worker));
  };
}

async function costOf(slice: Slice, first: number, count: number): Promise<Cost> {
  const before = process.cpuUsage();
  const begun = performance.now();
  await slice(first, count);
  const elapsed = (performance.now() - begun) * 1_000;
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / count, elapsed: elapsed / count };
}

function medianCost(costs: readonly Cost[]): Cost {
  return { cpu: median(costs.map(({ cpu }) => cpu)), elapsed: median(costs.map(({ elapsed }) => elapsed)) };
}
