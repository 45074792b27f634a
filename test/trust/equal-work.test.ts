import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as ed25519 from '../../src/trust/ed25519.ts';
import * as keyEvidence from '../../src/trust/evidence.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { verifyDocument } from '../../src/trust/verify.ts';
import * as canonical from '../../src/wire/canonical.ts';
import { agent, ORGANIZATION, registry, registryOf, stranger, UNSIGNED } from './sample-organization.ts';

vi.mock('../../src/trust/ed25519.ts', { spy: true });
vi.mock('../../src/trust/evidence.ts', { spy: true });
vi.mock('../../src/wire/canonical.ts', { spy: true });

const text = JSON.stringify(signDocument('command', UNSIGNED.command, agent.signer).document);
const verify = (document: string, evidence = registry) =>
  verifyDocument('command', { bytes: Buffer.from(document) }, ORGANIZATION, evidence);

beforeEach(() => {
  vi.clearAllMocks();
});

describe('work that tells nothing', () => {
  it('MWP-SDV-011: an unknown key costs the verification of a known one', async () => {
    expect(await verify(text.replace('hello', 'hellp'))).toMatchObject({ ok: false });
    const known = vi.mocked(ed25519.nativeVerify).mock.calls.map(([, signature, message]) => [signature, message]);
    vi.clearAllMocks();
    expect(await verify(text.replace('hello', 'hellp'), registryOf(stranger))).toMatchObject({ ok: false });
    const unknown = vi.mocked(ed25519.nativeVerify).mock.calls.map(([, signature, message]) => [signature, message]);
    expect(unknown).toEqual(known);
    expect(unknown).toHaveLength(1);
    expect(vi.mocked(ed25519.signatureRFault)).toHaveBeenCalledTimes(1);
  });

  it('MWP-SDV-011: a key that is unknown or of another principal has its interval judged as a known one has', async () => {
    const foreign = { binding: { ...agent.binding, principal: stranger.principal } };
    for (const evidence of [registry, registryOf(stranger), registryOf(foreign)]) {
      vi.clearAllMocks();
      expect(await verify(text.replace('hello', 'hellp'), evidence)).toMatchObject({ ok: false });
      expect(vi.mocked(keyEvidence.keyStatusAt)).toHaveBeenCalledTimes(1);
    }
  });

  it('MWP-SDV-006: a good document never takes the slow path', async () => {
    expect(await verify(text)).toMatchObject({ ok: true });
    expect(vi.mocked(ed25519.nativeVerify)).toHaveBeenCalledTimes(1);
    expect(vi.mocked(ed25519.signatureRFault)).not.toHaveBeenCalled();
  });

  it('MWP-FND-006c: a value outside the data model is refused before any hash', async () => {
    expect(await verify(text.replace('2.5', '1e400'))).toMatchObject({ refusal: { code: 'PROTOCOL_VIOLATION' } });
    expect(vi.mocked(canonical.sha256Label)).not.toHaveBeenCalled();
    expect(await verify(text)).toMatchObject({ ok: true });
    expect(vi.mocked(canonical.sha256Label)).toHaveBeenCalledTimes(1);
  });
});
