// Heads that were written down earlier, somewhere else. A chain alone cannot show that its tail was cut off together with
// its head; a head that was kept can.
import { isJsonObject } from '../protocol/documents/json-value.ts';
import type { StreamHead } from '../store/port.ts';
import { parseStrictJson } from '../wire/strict-json.ts';

const FORMAT = 1;
/** About a million streams. */
const FILE_MAXIMUM = 400_000_000;

export type AnchoredHead = Pick<StreamHead, 'streamId' | 'position' | 'revision' | 'chainHash' | 'logHash'>;

/** By Organization. */
export type AnchoredHeads = ReadonlyMap<string, AnchoredHead[]>;

export function anchorOf({ streamId, position, revision, chainHash, logHash }: StreamHead): AnchoredHead {
  return { streamId, position, revision, chainHash, logHash };
}

/** One stream a line, so that two files can be compared by eye. */
export function headsText(heads: AnchoredHeads): string {
  const organizations = [...heads].map(
    ([organizationId, streams]) =>
      `{"organizationId":${JSON.stringify(organizationId)},"streams":[\n${streams.map((head) => JSON.stringify(head)).join(',\n')}\n]}`,
  );
  return `{"format":${FORMAT},"organizations":[\n${organizations.join(',\n')}\n]}\n`;
}

/** Undefined for anything that `headsText` does not write. */
export function readHeads(bytes: Uint8Array): AnchoredHeads | undefined {
  const json = parseStrictJson(bytes, { maxBytes: FILE_MAXIMUM });
  if (!json.ok || !isJsonObject(json.value)) return undefined;
  const { format, organizations } = json.value;
  if (format !== FORMAT || !Array.isArray(organizations)) return undefined;
  const heads = new Map<string, AnchoredHead[]>();
  for (const organization of organizations as unknown[]) {
    if (!isJsonObject(organization)) return undefined;
    const { organizationId, streams } = organization;
    if (typeof organizationId !== 'string' || !areHeads(streams)) return undefined;
    heads.set(organizationId, streams);
  }
  return heads;
}

function areHeads(value: unknown): value is AnchoredHead[] {
  return Array.isArray(value) && value.every(isHead);
}

function isHead(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const texts = ['streamId', 'chainHash', 'logHash'].every((name) => typeof value[name] === 'string');
  return texts && ['position', 'revision'].every((name) => Number.isSafeInteger(value[name]));
}
