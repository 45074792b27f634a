// The published Registry fixtures that are at fault: each stops a document at stage 4, whatever its signature is worth.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cryptographyShape } from '../../src/cli/conformance/manifests.ts';
import type { SignedDocumentKind } from '../../src/protocol/kinds.ts';
import { evidenceFromSnapshot, readRegistrySnapshot } from '../../src/trust/registry-snapshot.ts';
import { verifyDocument } from '../../src/trust/verify.ts';
import { BUNDLE, hasBundle } from './spoiled-bundle.ts';

const FOLDER = join(BUNDLE, 'cryptography');
const SOUND = 'registry-valid.json';

interface Evaluated {
  profileId: SignedDocumentKind;
  document: string;
  registry: string;
  stage: string;
}

function evaluated(): Evaluated[] {
  const manifest = cryptographyShape.parse(JSON.parse(readFileSync(join(FOLDER, 'manifest.json'), 'utf8')));
  return manifest.cases
    .flatMap(({ evaluations }) => evaluations)
    .flatMap((evaluation) => ('document' in evaluation ? { ...evaluation, stage: evaluation.expect.stage } : []));
}

async function stageOf(
  { profileId, document, registry }: Evaluated,
  change: (document: object) => object = (same) => same,
) {
  const read = (path: string) => readFileSync(join(BUNDLE, path));
  const snapshot = readRegistrySnapshot(read(registry));
  const organizationId = snapshot.ok ? snapshot.snapshot.organizationId : 'urn:x-unreadable-registry';
  const bytes = Buffer.from(JSON.stringify(change(JSON.parse(read(document).toString('utf8')) as object)));
  const result = await verifyDocument(profileId, { bytes }, organizationId, evidenceFromSnapshot(snapshot));
  return result.ok ? 'complete' : result.diagnostic.forAudit().stage;
}

/** Well-formed and of another signing hash: with a sound Registry, stage 6 fails it. */
const changed = (document: object) => ({
  ...document,
  extensions: { 'urn:test:changed': { version: '1.0.0', critical: false, data: {} } },
});

describe.runIf(hasBundle)('the published Registry fixtures', () => {
  it('MWP-SDV-015e: each that is at fault is reported as stage 4 before cryptography, and a bad signature changes nothing of it', async () => {
    const all = evaluated();
    const faulty = all.filter(({ stage, registry }) => stage === 'key-resolution' && !registry.endsWith(SOUND));
    expect(faulty.length).toBeGreaterThan(20);
    for (const evaluation of faulty) {
      const { registry } = evaluation;
      expect([registry, await stageOf(evaluation)]).toEqual([registry, 'key-resolution']);
      expect([registry, await stageOf(evaluation, changed)]).toEqual([registry, 'key-resolution']);
    }
    // The change is one that cryptography does see.
    const sound = all.filter(({ stage, registry }) => stage === 'complete' && registry.endsWith(SOUND));
    expect(sound).toHaveLength(9);
    for (const evaluation of sound) {
      const { profileId } = evaluation;
      expect([profileId, await stageOf(evaluation)]).toEqual([profileId, 'complete']);
      if (profileId !== 'command') continue;
      expect(await stageOf(evaluation, changed)).toBe('signature');
    }
  });

  it('MWP-SDV-015e, MWP-SDV-008: the whole evidence is judged first: a sound key beside a broken one resolves nothing', async () => {
    const [golden] = evaluated().filter(({ profileId, stage }) => profileId === 'command' && stage === 'complete');
    const unrelated = evaluated().filter(({ registry }) => registry.includes('registry-unrelated-'));
    expect(unrelated.length).toBeGreaterThan(1);
    for (const { registry } of unrelated) {
      expect([registry, await stageOf({ ...(golden as Evaluated), registry })]).toEqual([registry, 'key-resolution']);
    }
  });
});
