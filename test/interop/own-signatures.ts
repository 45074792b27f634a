// The other direction: what our own code signs, before the official codec. The worker SDK for what Workers and owners sign,
// the server's signing for every kind; both must give the very bytes that the official codec gives.
import type { CommandKind } from '../../src/protocol/kinds.ts';
import type { SignedDocumentKind } from '../../src/protocol/kinds.ts';
import { signDocument } from '../../src/trust/signing.ts';
import { canonicalText } from '../../src/wire/canonical.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { signApproval, signArtifact, signContextPackage, signEvidence } from '../../src/worker/documents.ts';
import { actorKeyFromSeed } from '../../src/worker/keys.ts';
import { Actor } from './actor.ts';
import { CAPABILITY, HARD_JSON, missionDraft, newId } from './drafts.ts';
import { draftOfEachKind } from './each-kind.ts';
import type { JsonObject } from './sdk.ts';
import type { Stage } from './stage.ts';

interface Signed {
  readonly claim: string;
  readonly kind: SignedDocumentKind;
  readonly signer: Actor;
  readonly document: object;
  /** Where our side says it. */
  readonly signingHash?: string;
  /** What goes out; the canonical bytes where nothing else is said. */
  readonly bytes?: Uint8Array;
}

export function checkOwnSignatures(stage: Stage): void {
  const { sdk, checks, registry } = stage;
  const service = new Actor(sdk, 'service', 'own');
  const bindings = [...registry.bindings, service.binding('2020-01-01T00:00:00Z')];
  const resolver = { resolve: () => ({ ...registry, bindings }) };
  for (const signed of [...byWorkerSdk(stage), ...byServer(stage, service)]) {
    const { claim, kind, signer, document, bytes = Buffer.from(canonicalText(document), 'utf8') } = signed;
    try {
      const verified = sdk.codec.verify(kind, bytes, resolver);
      const { signature: _signature, ...unsigned } = document as JsonObject;
      const official = sdk.codec.sign(kind, unsigned, signer.key);
      checks.equal(
        `${claim} verifies, and the official codec signs the same bytes`,
        { bytes: Buffer.from(bytes).toString('utf8'), hash: signed.signingHash ?? verified.signingHash },
        { bytes: sdk.canonicalizeJson(official), hash: verified.signingHash },
      );
    } catch (error) {
      const { auditDetail } = error as { auditDetail?: unknown };
      checks.none(`${claim} verifies`, [`${String(error)} ${JSON.stringify(auditDetail)}`]);
    }
  }
}

function byWorkerSdk({ cast }: Stage): Signed[] {
  const { olga, cora, ada } = cast;
  const keyOf = ({ principal, key, seed }: Actor) => actorKeyFromSeed(principal, key.keyId, seed);
  const command = (signer: Actor, kind: CommandKind, payload: JsonObject, epochs = {}): Signed => {
    const signed = signCommand(keyOf(signer), { kind, groupId: newId(), payload }, epochs);
    const { document, signingHash, bytes } = signed;
    return { claim: `${kind} by our worker SDK`, kind: 'command', signer, document, signingHash, bytes };
  };
  const place = { missionId: newId(), groupId: newId(), workItemId: newId() };
  const hash = `sha256:${'0'.repeat(64)}`;
  const approval = { ...place, missionRevision: 3, artifactHashes: [hash], comments: 'Nice — 好 😀' };
  const artifact = signArtifact(keyOf(ada), {
    ...place,
    content: '# A page\n',
    mediaType: 'text/markdown',
    schemaUri: 'https://interop.example/schemas/page',
    producer: { agentCardVersion: 1, capabilities: [CAPABILITY] },
  });
  const evidence = signEvidence(keyOf(ada), {
    ...place,
    type: 'deterministic_test',
    criterionIds: ['complete'],
    method: 'Counted',
    details: HARD_JSON,
  });
  const sourceEventRange = { fromSequence: 1, toSequence: 1, eventIds: [newId()] };
  const contextPackage = signContextPackage(keyOf(cora), { ...place, sourceEventRange, summary: 'So far' });
  const ofKind = (kind: SignedDocumentKind, signer: Actor, document: object): Signed => ({
    claim: `${kind} by our worker SDK`,
    kind,
    signer,
    document,
  });
  const owner = keyOf(olga);
  return [
    command(olga, 'mission.create', missionDraft(cora)),
    command(ada, 'message.post', HARD_JSON, { sessionEpoch: 1, membershipEpoch: 1 }),
    command(cora, 'work.accept_result', {}, { sessionEpoch: 1, membershipEpoch: 1, coordinatorEpoch: 1 }),
    ofKind('artifact', ada, artifact),
    ofKind('evidence', ada, evidence),
    ofKind('context-package', cora, contextPackage),
    ofKind('approval', olga, signApproval(owner, { ...approval, kind: 'mission_final', decision: 'approved' })),
    ofKind('approval', olga, signApproval(owner, { ...approval, kind: 'work_execution', decision: 'denied' })),
  ];
}

function byServer(stage: Stage, service: Actor): Signed[] {
  return draftOfEachKind(stage, service).map(({ kind, signer, document: draft }) => {
    const key = actorKeyFromSeed(signer.principal, signer.key.keyId, signer.seed);
    const { document, signingHash } = signDocument(kind, draft as never, key.signer);
    return { claim: `${kind} by our server's signing`, kind, signer, document, signingHash };
  });
}
