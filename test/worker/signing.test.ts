import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signingBytes } from '../../src/trust/signing.ts';
import { decodeBase64url } from '../../src/wire/base64url.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { signApproval, signArtifact, signContextPackage, signEvidence } from '../../src/worker/documents.ts';
import { actorKeyFromSeed, generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import { Standing } from '../../src/worker/standing.ts';

const ADA = generateActorKey({ type: 'agent', id: 'urn:test:agent:ada' });
const OLGA = generateActorKey({ type: 'human', id: 'urn:test:human:olga' });
const GROUP = 'urn:test:group:1';

function isGenuine(document: { signature: { value: string; keyId: string } }, key: ActorKey): boolean {
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.publicKey }, format: 'jwk' });
  const value = decodeBase64url(document.signature.value) ?? new Uint8Array();
  return document.signature.keyId === key.keyId && verify(null, signingBytes(document), publicKey, value);
}

describe('Commands', () => {
  const draft = { kind: 'message.post', groupId: GROUP, payload: { text: 'hello' } } as const;
  const epochs = { sessionEpoch: 2, membershipEpoch: 1 };

  it('fills ids, epochs, time and a salt around the payload, and signs', () => {
    const { document, actionId } = signCommand(ADA, draft, epochs, Date.UTC(2026, 10, 29, 12));
    expect(document).toMatchObject({
      ...epochs,
      actionId,
      correlationId: actionId,
      actor: ADA.principal,
      issuedAt: '2026-11-29T12:00:00.000Z',
      payload: { text: 'hello', contentSalt: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/) as string },
    });
    expect(isGenuine(document, ADA)).toBe(true);
  });

  it('keeps a chosen Action ID, and gives equal texts unequal hashes', () => {
    const again = { ...draft, actionId: 'urn:test:action:7' };
    const [first, second] = [signCommand(ADA, again, epochs), signCommand(ADA, again, epochs)];
    expect(first.actionId).toBe('urn:test:action:7');
    expect(first.signingHash).not.toBe(second.signingHash);
  });

  it('throws for an envelope that the protocol forbids: a human without Membership Epoch', () => {
    expect(() => signCommand(OLGA, draft, {})).toThrow(/membershipEpoch/);
  });
});

describe('documents', () => {
  const about = { missionId: 'urn:test:mission:1', groupId: GROUP, workItemId: 'urn:test:work:1' };

  it('an Artifact names the hash and the size of its content', () => {
    const artifact = signArtifact(ADA, {
      ...about,
      content: 'é',
      mediaType: 'text/plain',
      schemaUri: 'urn:test:schema',
      producer: { agentCardVersion: 1, capabilities: [{ id: 'software.coding', version: '1.0.0' }] },
    });
    expect(artifact).toMatchObject({ sizeBytes: 2, producer: { agentId: ADA.principal.id } });
    expect(artifact.uri).toBe(`urn:${artifact.contentHash}`);
    expect(isGenuine(artifact, ADA)).toBe(true);
  });

  it('Evidence, Approvals and Context Packages carry their signer', () => {
    const evidence = signEvidence(ADA, { ...about, type: 'business_rule', criterionIds: ['done'], method: 'read' });
    expect(evidence).toMatchObject({ generatedBy: ADA.principal, result: 'passed' });
    const approval = signApproval(OLGA, {
      ...about,
      kind: 'work_execution',
      decision: 'approved',
      missionRevision: 3,
      artifactHashes: [],
    });
    expect(approval.approver).toEqual(OLGA.principal);
    const context = signContextPackage(ADA, {
      ...about,
      sourceEventRange: { fromSequence: 1, toSequence: 1, eventIds: ['urn:test:event:1'] },
      summary: 'so far',
    });
    expect([evidence, context].every((document) => isGenuine(document, ADA))).toBe(true);
    expect(isGenuine(approval, OLGA)).toBe(true);
  });
});

describe('keys', () => {
  it('come back from their seed', () => {
    const again = actorKeyFromSeed(ADA.principal, ADA.keyId, ADA.seed);
    expect(again.publicKey).toBe(ADA.publicKey);
  });
});

describe('standing', () => {
  const membership = (membershipEpoch: number, member = ADA.principal) => ({
    payload: { memberships: [{ member, groupId: GROUP, membershipEpoch }] },
  });

  it('learns its own epochs from Events, in any order, and never falls back', () => {
    const standing = new Standing(ADA.principal);
    standing.sessionOpened(4);
    standing.learn([membership(2), membership(1), membership(9, OLGA.principal)] as never);
    expect(standing.epochsIn(GROUP)).toEqual({ sessionEpoch: 4, membershipEpoch: 2 });
    expect(standing.epochsIn('urn:test:group:2')).toEqual({ sessionEpoch: 4 });
  });

  it('knows its Coordinator Epoch from the Mission that names it', () => {
    const standing = new Standing(ADA.principal);
    const coordinator = { agentId: ADA.principal.id, coordinatorEpoch: 1 };
    standing.learn([{ payload: { mission: { groupId: GROUP, coordinator } } }] as never);
    expect(standing.epochsIn(GROUP)).toEqual({ coordinatorEpoch: 1 });
  });
});
