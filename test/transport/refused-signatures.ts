// Every way in which this service refuses the signature of a Command, or of a document inside one: each with what the
// protected audit says of it. What another adapter of the Registry or the log could answer and ours never does stands in
// test/trust. They are sent in this order: the last ones spoil what is stored.
import { signDocument, type Signer } from '../../src/trust/signing.ts';
import { registryHash } from '../../src/wire/registry-log.ts';
import { signCommand } from '../../src/worker/commands.ts';
import { generateActorKey, type ActorKey } from '../../src/worker/keys.ts';
import type { Vandal } from '../archive/vandal.ts';
import { sealRegistry } from '../support/sealing.ts';
import { Mission } from '../support/mission.ts';
import type { Tenant } from '../support/tenant.ts';
import { alteredCommands, type Json } from './altered-commands.ts';

export interface RefusedSignature {
  name: string;
  /** Stage and reason, or how they begin. */
  audit: string;
  bytes: () => Uint8Array | Promise<Uint8Array>;
  sender: ActorKey;
  /** To be sent to a process that has read nothing of this Registry yet. */
  isForNewProcess?: true;
}

const PAST = '2021-01-01T00:00:00Z';
const MINUTE = 60_000;

export async function refusedSignatures(
  tenant: Tenant,
  vandal: Vandal,
  olga: ActorKey,
  ada: ActorKey,
): Promise<RefusedSignature[]> {
  const { organizationId, registrar: service } = tenant.organization;
  const { organizations } = tenant.store;
  const registrar = tenant.keyOf(service);
  const from = (sender: ActorKey) => (name: string, audit: string, bytes: RefusedSignature['bytes']) => {
    return { name, audit, bytes, sender };
  };
  const [command, card] = [from(olga), from(registrar)];
  const inNewProcess = (cause: RefusedSignature): RefusedSignature => ({ ...cause, isForNewProcess: true });

  const creation = () => Mission.draft(tenant, olga, ada).creation();
  const under = (key: ActorKey, age = 0) => {
    return signCommand({ ...key, principal: olga.principal }, creation(), {}, Date.now() - age).bytes;
  };
  const bound = async (end: object = {}, { principal } = olga, validFrom = '2020-01-01T00:00:00Z') => {
    const key = generateActorKey(principal);
    const { keyId, publicKey } = key;
    const ends = Object.keys(end).length > 0 ? [{ keyId, recordedAt: await organizations.now(), ...end }] : [];
    const bindings = [{ keyId, principal, algorithm: 'Ed25519' as const, publicKey, validFrom }];
    const outcome = await organizations.changeRegistry(organizationId, { bindings, validity: ends });
    if (outcome.outcome !== 'done') throw new Error(JSON.stringify(outcome));
    return key;
  };
  const other = await bound();
  const otherRegistrar = await bound({}, registrar);

  /** Accepted under Olga's key; the same content under another one of hers. */
  const accepted = { ...creation(), actionId: 'urn:uuid:00000000-0000-4000-8000-00000000000a' };
  const draft = { ...accepted, payload: { contentSalt: 'AAAAAAAAAAAAAAAAAAAAAA', ...accepted.payload } };
  const at = Date.now();
  const first = await tenant.submitBytes(signCommand(olga, draft, {}, at).bytes, olga.principal);
  if (!first.accepted) throw new Error(first.refusal.message);

  const { events } = await tenant.registerCard(ada, 2);
  const { signature: _signature, ...content } = events[0]?.payload['card'] as Json;
  const signedCard = (signer: Signer, more: object = {}) => ({
    ...(signDocument('agent-card', content as never, signer).document as object),
    ...more,
  });
  const carrying = (document: object) =>
    tenant.sign(registrar, {
      kind: 'ext.missionweaveprotocol.registry.agent_card_register',
      payload: { card: document },
    });
  const afterRecord = (record: string) => async () => {
    await vandal.run(`UPDATE {admissions} SET record = ${record} WHERE document_kind = 'agent-card'`);
    return carrying(signedCard(registrar.signer));
  };

  /** As someone with the master key could, past every check of a point at registration. */
  const withWeakKey = async () => {
    const { registryRevision, entries } = await organizations.registrySince(organizationId, 0);
    const { principal } = olga;
    const keyId = 'urn:test:key:weak';
    const weak = {
      keyId,
      principal,
      algorithm: 'Ed25519',
      publicKey: `AQ${'A'.repeat(41)}`,
      validFrom: '2020-01-01T00:00:00Z',
    };
    const entry = { revision: registryRevision + 1, recordedAt: 'x', changes: JSON.stringify({ bindings: [weak] }) };
    const hash = registryHash(organizationId, entries.at(-1)?.hash, entry);
    const seal = sealRegistry(organizationId, entry.revision, hash);
    await vandal.run(`INSERT INTO {registry_log} (organization_id, revision, recorded_at, changes, hash, seal)
      VALUES ('${organizationId}', ${entry.revision}, 'x', '${entry.changes}', '${hash}', '${seal}')`);
    await vandal.run(`UPDATE {organizations} SET registry_revision = ${entry.revision}`);
    return under({ ...olga, keyId, signer: { ...olga.signer, keyId } });
  };
  const lastEntry = 'revision = (SELECT max(revision) FROM {registry_log})';
  const afterLog = (statement: string) => async () => {
    await vandal.run(`${statement} WHERE ${lastEntry}`);
    return under(olga);
  };

  const stage4 = 'key-resolution';
  return [
    ...alteredCommands(() => under(olga), olga.signer).map((altered) =>
      command(altered.name, altered.audit, altered.bytes),
    ),
    command('a key that nobody has', `${stage4} key-unknown`, () => under(generateActorKey(olga.principal))),
    command("another principal's key", `${stage4} key-of-another-principal`, () => under(ada)),
    command('a key to come', `${stage4} key-not-yet-valid`, async () =>
      under(await bound({}, olga, '2100-01-01T00:00:00Z')),
    ),
    command('an expired key', `${stage4} key-expired`, async () => under(await bound({ validUntil: PAST }))),
    command('a revoked key', `${stage4} key-revoked`, async () => under(await bound({ revokedAt: PAST }))),
    command('an age of ten minutes', 'admission issued-too-long-ago', () => under(olga, 10 * MINUTE)),
    command('a time to come', 'admission issued-too-far-ahead', () => under(olga, -10 * MINUTE)),
    command('a key that ended since', 'admission trusted-time-outside-key-interval', async () =>
      under(await bound({ validUntil: new Date(Date.now() - MINUTE / 2).toISOString() }), MINUTE),
    ),
    command('what was accepted, under another key', 'admission record-conflict', () => {
      return signCommand(other, draft, {}, at).bytes;
    }),
    card('a Card of an agent', `${stage4} signer-not-a-service`, () => carrying(signedCard(ada.signer))),
    card('a changed Card', 'signature equation-fails', () =>
      carrying(signedCard(registrar.signer, { maxConcurrency: 5 })),
    ),
    card('a Card admitted under another key', 'admission record-binding-mismatch', () =>
      carrying(signedCard(otherRegistrar.signer)),
    ),
    card(
      'a record of another acceptor',
      'admission log-authentication-failed',
      afterRecord(`replace(record, '${tenant.organization.authority.id}', '${service.id}')`),
    ),
    card('a record that is none', 'admission record-schema-invalid', afterRecord(`'{}'`)),
    command('a weak key', `${stage4} public-key-identity-point`, withWeakKey),
    inNewProcess(
      command(
        'a Registry that was altered',
        `${stage4} evidence-corrupt`,
        afterLog(`UPDATE {registry_log} SET recorded_at = 'y'`),
      ),
    ),
    inNewProcess(
      command('a Registry that is cut', `${stage4} evidence-incomplete`, afterLog('DELETE FROM {registry_log}')),
    ),
  ];
}
