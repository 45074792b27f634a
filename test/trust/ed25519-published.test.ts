// What others have published to tell Ed25519 verifiers apart, and the documents of the protocol's own bundle.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFolder } from '../../src/cli/conformance/folder.ts';
import { checkBundle } from '../../src/cli/conformance/integrity.ts';
import { signingBytes } from '../../src/trust/signing.ts';
import { decodeBase64url } from '../../src/wire/base64url.ts';
import { expectVerdict, fastVerify, inPlace, strictVerify } from './paths.ts';
import { readVectors } from './vectors.ts';

const BUNDLE = process.env['MWP_BUNDLE'] ?? resolve(import.meta.dirname, '../../../shared/mwp');
const hasBundle = existsSync(join(BUNDLE, 'conformance/manifest.json'));

describe('published edge cases', () => {
  it.each([
    ['speccheck.txt', { accept: 0, refuse: 12 }],
    ['wycheproof.txt', { accept: 88, refuse: 63 }],
    ['cctv.txt', { accept: 2, refuse: 912 }],
  ])('MWP-SDV-003, MWP-SDV-005, MWP-SDV-006: %s comes out as strict rules demand, whole', async (file, counts) => {
    const judged = { accept: 0, refuse: 0 };
    for (const { name, accept, ...published } of readVectors(file)) {
      await expectVerdict(published, accept, name);
      judged[accept ? 'accept' : 'refuse'] += 1;
    }
    expect(judged).toEqual(counts);
  });
});

interface BundledDocument {
  signature?: { keyId?: string; value?: string };
}
interface BundledRegistry {
  bindings?: { keyId: string; publicKey: string }[];
}

describe.runIf(hasBundle)('the cryptography bundle', () => {
  it('MWP-SDV-006: under every key of its registry each document verifies as published, on every path', async () => {
    const bundle = checkBundle(openFolder(BUNDLE));
    const judged = { complete: 0, signature: 0, earlier: 0 };
    for (const { evaluations } of bundle.cryptography?.cases ?? []) {
      for (const evaluation of evaluations) {
        if ('input' in evaluation) continue;
        const [document, registry] = [evaluation.document, evaluation.registry].map((path) =>
          readLeniently(bundle.read(path)),
        );
        const { keyId, value = '' } = (document as BundledDocument | undefined)?.signature ?? {};
        const signature = decodeBase64url(value);
        if (signature === undefined || !isCanonical(document)) continue;
        for (const binding of (registry as BundledRegistry | undefined)?.bindings ?? []) {
          const publicKey = decodeBase64url(binding.publicKey);
          if (publicKey === undefined || publicKey.length !== 32) continue;
          const one = { publicKey, signature, message: signingBytes(document as object) };
          const name = `${evaluation.document}, ${binding.keyId}`;
          const { stage } = evaluation.expect;
          if (binding.keyId !== keyId || (stage !== 'complete' && stage !== 'signature')) {
            // An earlier stage has spoken, or nobody asked for this key: what counts is that the paths agree.
            const strict = strictVerify(one);
            expect([await fastVerify(one), await fastVerify(one, inPlace)], name).toEqual([strict, strict]);
            judged.earlier += 1;
          } else {
            await expectVerdict(one, stage === 'complete', name);
            judged[stage] += 1;
          }
        }
      }
    }
    expect(judged.complete).toBeGreaterThanOrEqual(9);
    expect(judged.signature).toBeGreaterThan(0);
    expect(judged.earlier).toBeGreaterThan(10);
  });
});

/** Some files are no strict JSON on purpose. */
function readLeniently(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Does it have signing bytes at all? */
function isCanonical(document: unknown): boolean {
  try {
    return signingBytes(document as object).length > 0;
  } catch {
    return false;
  }
}
