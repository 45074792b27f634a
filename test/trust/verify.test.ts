import { describe, expect, it } from 'vitest';
import { SIGNED_DOCUMENT_KINDS, type SignedDocumentKind } from '../../src/protocol/kinds.ts';
import { ProtectedDiagnostic } from '../../src/trust/diagnostic.ts';
import type { KeyEvidence, RegistryEvidence } from '../../src/trust/evidence.ts';
import { SIGNED_KINDS, type UnsignedDocument } from '../../src/trust/signed-kinds.ts';
import { signDocument, signingHash, type Signer } from '../../src/trust/signing.ts';
import { readDocument, verifyDocument, verifyRead, type VerificationResult } from '../../src/trust/verify.ts';
import { encodeBase64url } from '../../src/wire/base64url.ts';
import { canonicalBytes, canonicalText } from '../../src/wire/canonical.ts';
import { agent, answering, human, ORGANIZATION, party, registry, registryOf, service } from './sample-organization.ts';
import { SIGNER_OF, stranger, TIME, UNSIGNED } from './sample-organization.ts';

type Json = Record<string, unknown>;

function signed<Kind extends SignedDocumentKind>(kind: Kind, signer: Signer = SIGNER_OF[kind].signer) {
  return signDocument(kind, UNSIGNED[kind] as UnsignedDocument<Kind>, signer).document;
}
const command = () => structuredClone(signed('command')) as unknown as Json & { signature: Json; payload: Json };
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const envelopeOf = (document: { signature: Json }) => document.signature;

function stageOf(result: VerificationResult<SignedDocumentKind>): string {
  return result.ok ? 'complete' : result.diagnostic.forAudit().stage;
}
async function judge(text: Uint8Array | string, evidence: RegistryEvidence = registry) {
  const result = await verifyDocument('command', { bytes: Buffer.from(text) }, ORGANIZATION, evidence);
  return result.ok ? 'complete' : `${stageOf(result)} ${result.refusal.code}`;
}
/** Signs whatever it is given, sound or not. */
function resigned(document: Json & { signature: Json }, signer: Signer = agent.signer) {
  const { signature, ...rest } = document;
  return { ...rest, signature: { ...signature, value: encodeBase64url(signer.sign(canonicalBytes(rest))) } };
}

describe('the nine signed kinds', () => {
  it.each(SIGNED_DOCUMENT_KINDS)('MWP-SDV-001a: %s verifies under its signer and its protected time', async (kind) => {
    const document = signed(kind);
    const result = await verifyDocument(kind, { bytes: bytesOf(document) }, ORGANIZATION, registry);
    expect(result).toMatchObject({
      ok: true,
      kind,
      organizationId: ORGANIZATION,
      keyId: SIGNER_OF[kind].binding.keyId,
      principal: SIGNER_OF[kind].principal,
      protectedTime: TIME,
      signingHash: signingHash(document),
    });
  });

  it.each(SIGNED_DOCUMENT_KINDS)('MWP-SDV-001a: %s under the key of another principal fails stage 4', async (kind) => {
    const other = kind === 'agent-card' ? agent : party('service', 'other');
    const document = signed(kind, other.signer);
    const evidence = registryOf(agent, human, service, ...(kind === 'agent-card' ? [] : [other]));
    const result = await verifyDocument(kind, { bytes: bytesOf(document) }, ORGANIZATION, evidence);
    expect(stageOf(result)).toBe('key-resolution');
  });

  it.each(SIGNED_DOCUMENT_KINDS)('MWP-SDV-001a: %s with another time in createdAt fails stage 3', async (kind) => {
    const document = { ...signed(kind) } as unknown as Json & { signature: Json };
    const member = SIGNED_KINDS[kind].protectedTimePointer.slice(1);
    const result = await verifyDocument(
      kind,
      { bytes: bytesOf(resigned({ ...document, [member]: '2026-03-01T12:00:00.50Z' }, SIGNER_OF[kind].signer)) },
      ORGANIZATION,
      registry,
    );
    expect(stageOf(result)).toBe('signature-envelope');
  });

  it('MWP-SDV-001b: a Card by any service of the Organization passes; by an Agent it fails stage 4', async () => {
    const clerk = party('service', 'clerk');
    const byClerk = { bytes: bytesOf(signed('agent-card', clerk.signer)) };
    expect(stageOf(await verifyDocument('agent-card', byClerk, ORGANIZATION, registryOf(clerk)))).toBe('complete');
    const byAgent = { bytes: bytesOf(signed('agent-card', agent.signer)) };
    expect(stageOf(await verifyDocument('agent-card', byAgent, ORGANIZATION, registry))).toBe('key-resolution');
  });

  it('MWP-SDV-001c: nested members named signature are protected; member order is not', async () => {
    const nested = command();
    (nested.payload['signature'] as Json)['nested'] = false;
    expect(await judge(JSON.stringify(nested))).toBe('signature AUTH_INVALID_SIGNATURE');
    const reordered = Object.fromEntries(Object.entries(command()).reverse());
    expect(await judge(JSON.stringify(reordered, null, 2))).toBe('complete');
  });
});

describe('the six stages', () => {
  it.each<[string, string]>([
    ['a byte-order mark', `\ufeff${JSON.stringify(command())}`],
    ['trailing data', `${JSON.stringify(command())} {}`],
    ['a doubled member', JSON.stringify(command()).replace('{', '{"kind":"message.post",')],
    ['a doubled decoded member', JSON.stringify(command()).replace('{', '{"\\u006bind":"message.post",')],
  ])('MWP-SDV-015b: %s fails stage 1', async (_name, text) => {
    expect(await judge(text)).toBe('parse PROTOCOL_VIOLATION');
  });

  it('MWP-SDV-015b: bad UTF-8 fails stage 1', async () => {
    const bytes = bytesOf(command());
    bytes[bytes.indexOf('hello')] = 0xff;
    expect(await judge(bytes)).toBe('parse PROTOCOL_VIOLATION');
  });

  it('MWP-SDV-015c: a missing envelope, another algorithm and no object fail stage 2', async () => {
    const { signature: _signature, ...unsigned } = command();
    const es256 = { ...command(), signature: { ...command().signature, algorithm: 'ES256' } };
    for (const text of [JSON.stringify(unsigned), JSON.stringify(es256), '[]', 'null', '"text"']) {
      expect(await judge(text)).toBe('schema SCHEMA_VALIDATION_FAILED');
    }
  });

  it.each<[string, (document: Json & { signature: Json }) => unknown]>([
    [
      'a lower-case z',
      (d) =>
        resigned({
          ...d,
          issuedAt: TIME.replace('Z', 'z'),
          signature: { ...envelopeOf(d), createdAt: TIME.replace('Z', 'z') },
        }),
    ],
    [
      'an offset',
      (d) =>
        resigned({
          ...d,
          issuedAt: '2026-03-01T12:00:00+00:00',
          signature: { ...envelopeOf(d), createdAt: '2026-03-01T12:00:00+00:00' },
        }),
    ],
    ['createdAt spelled differently', (d) => resigned({ ...d, issuedAt: '2026-03-01T12:00:00.50Z' })],
    ['a signature of 63 bytes', (d) => ({ ...d, signature: { ...envelopeOf(d), value: 'A'.repeat(84) } })],
    ['spare bits', (d) => ({ ...d, signature: { ...envelopeOf(d), value: `${'A'.repeat(85)}B` } })],
    [
      'S equal to L',
      (d) => ({
        ...d,
        signature: {
          ...envelopeOf(d),
          value: encodeBase64url(withS('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')),
        },
      }),
    ],
    [
      'R off the curve',
      (d) => ({
        ...d,
        signature: {
          ...envelopeOf(d),
          value: encodeBase64url(Uint8Array.from({ length: 64 }, (_, i) => (i === 0 ? 2 : 0))),
        },
      }),
    ],
  ])('MWP-SDV-015d: %s fails stage 3', async (_name, spoil) => {
    expect(await judge(JSON.stringify(spoil(command())))).toBe('signature-envelope AUTH_INVALID_SIGNATURE');
  });

  it('MWP-SDV-002: a lower-case t in both protected times is no fault', async () => {
    const time = TIME.replace('T', 't');
    const document = command();
    expect(
      await judge(
        JSON.stringify(
          resigned({ ...document, issuedAt: time, signature: { ...document.signature, createdAt: time } }),
        ),
      ),
    ).toBe('complete');
  });

  it('MWP-SDV-015f: one changed byte fails stage 6', async () => {
    expect(await judge(JSON.stringify(command()).replace('hello', 'hellp'))).toBe('signature AUTH_INVALID_SIGNATURE');
  });

  it('MWP-SDV-019: a document signed over all but signature.value fails stage 6', async () => {
    const document = command();
    const { value: _value, ...envelope } = document.signature;
    const value = encodeBase64url(agent.signer.sign(canonicalBytes({ ...document, signature: envelope })));
    expect(await judge(JSON.stringify({ ...document, signature: { ...document.signature, value } }))).toBe(
      'signature AUTH_INVALID_SIGNATURE',
    );
  });

  it('MWP-SDV-015g: a base time fault is stage 2, the Z fault stage 3, a malformed Registry time stage 4', async () => {
    const document = command();
    expect(await judge(JSON.stringify(resigned({ ...document, issuedAt: '2026-02-30T00:00:00Z' })))).toMatch(
      /^schema /,
    );
    expect(await judge(JSON.stringify(resigned({ ...document, issuedAt: '2026-03-01T12:00:00+00:00' })))).toMatch(
      /^signature-envelope /,
    );
    const broken = { ...agent.binding, validFrom: 'soon' };
    expect(await judge(JSON.stringify(document), registryOf({ binding: broken }))).toMatch(/^key-resolution /);
    const careless = answering(established({ binding: broken }));
    expect(await judge(JSON.stringify(document), careless)).toMatch(/^key-resolution /);
  });

  it('MWP-SDV-016: overflow and lone surrogates are stage 5 alone, and later than stages 2, 3 and 4', async () => {
    const overflow = JSON.stringify(command()).replace('2.5', '1e400');
    const surrogate = JSON.stringify(command()).replace('hello', '\\ud800');
    for (const text of [overflow, surrogate]) {
      expect(await judge(text)).toBe('canonicalization PROTOCOL_VIOLATION');
      expect(await judge(text.replace('"kind":"message.post"', '"kind":"nothing"'))).toMatch(/^schema /);
      expect(await judge(text.replace(TIME, '2026-03-01T12:00:00Z'))).toMatch(/^signature-envelope /);
      expect(await judge(text, registryOf(stranger))).toMatch(/^key-resolution /);
    }
    const inSchema = JSON.stringify(command()).replace('"membershipEpoch":1', '"membershipEpoch":1e400');
    expect(await judge(inSchema)).toMatch(/^schema /);
  });

  it('MWP-SDV-015a: the first failing stage is named where several fail', async () => {
    const offCurve = { ...command().signature, value: `Ag${'A'.repeat(84)}` };
    const bad = JSON.stringify({ ...command(), signature: offCurve });
    expect(await judge(bad, registryOf(stranger))).toMatch(/^signature-envelope /);
    expect(await judge(bad.replace('2.5', '1e400'))).toMatch(/^signature-envelope /);
    expect(await judge(bad.replace('"protocolVersion":"0.1"', '"protocolVersion":"0.2"'))).toMatch(/^schema /);
  });

  it('MWP-SDV-015a: no evidence is asked for before stage 4', async () => {
    let asked = 0;
    const spy: RegistryEvidence = {
      async resolve(organizationId, keyId) {
        asked += 1;
        return registry.resolve(organizationId, keyId);
      },
    };
    await judge('{', spy);
    await judge('{}', spy);
    await judge(JSON.stringify(resigned({ ...command(), issuedAt: '2026-03-01T12:00:00+00:00' })), spy);
    expect(asked).toBe(0);
    await judge(JSON.stringify(command()), spy);
    expect(asked).toBe(1);
  });

  it('MWP-SDV-017: an embedded value verifies as its bytes do, and nothing of it is rewritten', async () => {
    const document = signed('evidence');
    const before = canonicalText(document);
    const read = readDocument('evidence', { value: document });
    expect(read.ok && read.document).toBe(document);
    const result = await verifyRead('evidence', document, ORGANIZATION, registry);
    expect(result).toMatchObject({ ok: true, signingHash: signingHash(document) });
    expect(result.ok && result.document).toBe(document);
    expect(canonicalText(document)).toBe(before);
  });
});

function withS(hex: string): Uint8Array {
  const identity = new Uint8Array(32);
  identity[0] = 1;
  return Uint8Array.from([...identity, ...Buffer.from(hex, 'hex')]);
}

function established(over: Partial<Extract<KeyEvidence, { outcome: 'established' }>> = {}): KeyEvidence {
  return { outcome: 'established', organizationId: ORGANIZATION, registryRevision: 1, binding: agent.binding, ...over };
}

describe('stage 4', () => {
  it.each<[string, KeyEvidence]>([
    ['unavailable', { outcome: 'unavailable', reason: 'no connection' }],
    ['incomplete', { outcome: 'incomplete', reason: 'one page missing' }],
    ['stale', { outcome: 'stale', reason: 'revision 3 of 4' }],
    ['corrupt', { outcome: 'corrupt', reason: 'binding 7' }],
    ['absent', established({ binding: undefined })],
    ['of another Organization', established({ organizationId: 'urn:example:organization:other' })],
    ['of another key', established({ binding: { ...agent.binding, keyId: 'urn:example:key:another' } })],
    ['a key of another principal', established({ binding: { ...agent.binding, principal: stranger.principal } })],
    [
      'the same id as another type',
      established({ binding: { ...agent.binding, principal: { type: 'human', id: agent.principal.id } } }),
    ],
    [
      'a weak key',
      established({ binding: { ...agent.binding, publicKey: 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' } }),
    ],
  ])('MWP-SDV-011: evidence %s fails stage 4', async (_name, evidence) => {
    expect(await judge(JSON.stringify(command()), answering(evidence))).toBe('key-resolution AUTH_INVALID_SIGNATURE');
  });

  it('MWP-SDV-014a: the interval is half-open, exact and at the protected time', async () => {
    const at = (over: object) =>
      judge(JSON.stringify(command()), registryOf({ binding: { ...agent.binding, ...over } }));
    const ends = (record: object) => ({ history: [{ sequence: 1, recordedAt: '2026-02-01T00:00:00Z', ...record }] });
    expect(await at({ validFrom: '2026-03-01T12:00:00.5Z' })).toBe('complete');
    expect(await at({ validFrom: '2026-03-01T12:00:00.5000000000001Z' })).toMatch(/^key-resolution /);
    expect(await at(ends({ validUntil: '2026-03-01T12:00:00.5Z' }))).toMatch(/^key-resolution /);
    expect(await at(ends({ validUntil: '2026-03-01T12:00:00.5000000000001Z' }))).toBe('complete');
    expect(await at(ends({ revokedAt: '2026-03-01T14:00:00.500+02:00' }))).toMatch(/^key-resolution /);
    expect(await at(ends({ revokedAt: '2026-03-01T14:00:00.501+02:00' }))).toBe('complete');
  });

  it('MWP-SDV-008: a bad unrelated record fails every document', async () => {
    const bad = { binding: { ...stranger.binding, publicKey: 'AAAA' } };
    expect(await judge(JSON.stringify(command()), registryOf(agent, bad))).toMatch(/^key-resolution /);
  });
});

describe('what is told', () => {
  const causes = async () => {
    const text = JSON.stringify(command());
    const offCurve = JSON.stringify({
      ...command(),
      signature: { ...command().signature, value: `Ag${'A'.repeat(84)}` },
    });
    return Promise.all([
      verifyText(text, registryOf(stranger)),
      verifyText(text, answering({ outcome: 'unavailable', reason: 'down' })),
      verifyText(text, answering(established({ binding: { ...agent.binding, validFrom: '2027-01-01T00:00:00Z' } }))),
      verifyText(text.replace('hello', 'hellp'), registry),
      verifyText(offCurve, registry),
    ]);
  };
  const verifyText = (text: string, evidence: RegistryEvidence) =>
    verifyDocument('command', { bytes: Buffer.from(text) }, ORGANIZATION, evidence);

  it('MWP-SDV-018b: every key and cryptographic cause gives one refusal, and the audit has each reason', async () => {
    const failures = (await causes()).map((result) => (result.ok ? undefined : result));
    expect(new Set(failures.map((failure) => JSON.stringify(failure?.refusal))).size).toBe(1);
    expect(new Set(failures.map((failure) => failure?.diagnostic.forAudit().reason)).size).toBe(5);
  });

  it('GDE-11: a diagnostic prints as nothing and fits no type of the wire', () => {
    const diagnostic = new ProtectedDiagnostic('signature', 'equation-fails');
    expect(JSON.stringify({ diagnostic })).toBe('{"diagnostic":"[protected]"}');
    expect(`${String(diagnostic)}${Object.keys(diagnostic).join('')}`).toBe('[protected]');
    const encode = (refusal: { code: string; message: string }) => JSON.stringify(refusal);
    // @ts-expect-error a diagnostic is no refusal
    expect(encode(diagnostic)).not.toContain('equation-fails');
    // @ts-expect-error nor does a look-alike pass for a diagnostic
    const counterfeit: ProtectedDiagnostic = { forAudit: () => ({ stage: 'signature', reason: '' }) };
    expect(counterfeit).not.toBeInstanceOf(ProtectedDiagnostic);
  });
});

describe('signing', () => {
  it('MWP-FND-005c: createdAt is the protected time, and a time without capital Z is never signed', () => {
    expect(signed('command').signature.createdAt).toBe(TIME);
    const late = { ...UNSIGNED.command, issuedAt: '2026-03-01T12:00:00z' };
    expect(() => signDocument('command', late, agent.signer)).toThrow('capital Z');
  });

  it('MWP-FND-004a: a document outside its schema is never signed', () => {
    const broken = { ...UNSIGNED.event, sequence: 0 };
    expect(() => signDocument('event', broken, service.signer)).toThrow('/sequence');
  });

  it('MWP-SDV-017: the signing hash is that of all but the top-level signature', () => {
    const { document, signingBytes, signingHash: hash } = signDocument('command', UNSIGNED.command, agent.signer);
    expect(Buffer.from(signingBytes).toString()).toBe(canonicalText(UNSIGNED.command));
    expect(hash).toBe(signingHash(document));
  });
});
