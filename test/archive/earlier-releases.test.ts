// What earlier releases signed and exported, proven by this one. Each bundle is a Group of the demo of that commit, written by
// its own `mwp export` and never changed since: 74c2e77 is the first that had it, 423e908 one from before archival. Another
// release gets another file here; none is made anew.
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { verifyBundle } from '../../src/archive/verify-bundle.ts';
import type { Event } from '../../src/protocol/documents/event.ts';
import { foldedStateHash } from '../../src/worker/group-fold.ts';

const RELEASES = [
  {
    commit: '74c2e77',
    events: 66,
    stateHash: 'sha256:01753053527a24ca5f23f3805e948651c462adf43fd09eb57d8c0646360b8229',
    registryRevision: 8,
  },
  {
    commit: '423e908',
    events: 60,
    stateHash: 'sha256:2a5c0918e05b1cd896fbfb557be4826687bba9baa5c5296bfdfa32e60b28a694',
    registryRevision: 10,
  },
];

describe.each(RELEASES)('a Group that $commit exported', ({ commit, events, stateHash, registryRevision }) => {
  const bundle = async () =>
    gunzipSync(await readFile(new URL(`fixtures/bundle-of-${commit}.jsonl.gz`, import.meta.url))).toString('utf8');

  async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text, 'utf8');
  }

  it('GDE-15: verifies: signatures by the keys of then, admission records, receipts, chains and state', async () => {
    const report = await verifyBundle(bytesOf(await bundle()));
    expect([report.sentences, report.notes]).toEqual([[], []]);
    expect(report).toMatchObject({ events, stateHash, statement: { registryRevision, stateHash } });
  });

  it('GDE-15: folds for a member of today to the state that was reported then', async () => {
    const lines = (await bundle()).trimEnd().split('\n');
    const parsed = lines.map((line) => JSON.parse(line) as { line: string; organizationId: string; groupId: string });
    const signed = parsed.filter(({ line }) => line === 'event') as unknown as { row: { body: string } }[];
    const { organizationId, groupId } = parsed[0]!;
    const all = signed.map(({ row }) => JSON.parse(row.body) as Event);
    expect(all).toHaveLength(events);
    expect(foldedStateHash(organizationId, groupId, all)).toBe(stateHash);
  });

  it('GDE-15: is proven and not just believed: one digit in what was signed is found', async () => {
    const text = await bundle();
    const member = String.raw`\"occurredAt\":\"2026-11-30T00:00:0`;
    const at = text.lastIndexOf(member.slice(0, 17)) + member.length;
    const changed = `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
    const report = await verifyBundle(bytesOf(changed));
    expect(report.sentences.join()).toMatch(/signature|signing hash/i);
  });
});
