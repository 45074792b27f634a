// POST /organizations/{slug}/agents: an Agent Card, signed by the registrar and registered through the authority like any
// other Command.
import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Authority, TenantSigners } from '../../authority/ports.ts';
import type { Logger } from '../../platform/logger.ts';
import { checkCardSize, registryName } from '../../domain/commands/agent-card-register.ts';
import { agentCardSchema, type AgentCard } from '../../protocol/documents/agent-card.ts';
import { describeFault } from '../../protocol/documents/catalogue.ts';
import { isCapitalZ } from '../../protocol/timestamps.ts';
import type { AuthorityStore, OrganizationRow } from '../../store/port.ts';
import { signDocument, type Signer } from '../../trust/signing.ts';
import { canonicalBytes } from '../../wire/canonical.ts';
import { jsonBody } from '../bodies.ts';
import { fail, HttpRefusal } from '../errors.ts';
import { jsonText } from '../json-text.ts';
import type { Directory } from '../tenancy.ts';
import { AGENT_CARD_REGISTER_KIND } from './new-organization.ts';
import { organizationOf } from './outcomes.ts';
import { register } from './registration.ts';

const agentBody = z.strictObject({
  card: z.looseObject({ signature: z.undefined('is made by the service and must not be given').optional() }),
});

export interface AgentParts {
  store: AuthorityStore;
  authority: Authority;
  signers: TenantSigners;
  directory: Directory;
  logger: Logger;
}

export function agentRoutes(parts: AgentParts): Hono {
  const { store, directory, signers, authority, logger } = parts;
  const routes = new Hono();
  routes.post('/organizations/:slug/agents', async (c) => {
    const organization = await organizationOf(c, directory);
    const { card } = await jsonBody(c, agentBody);
    const unsigned = completed(card, organization, await store.organizations.now());
    const signer = await signers.signerOf(organization, organization.registrar);
    await registerKeys(parts, organization, unsigned);
    const { document } = signDocument('agent-card', unsigned, signer);
    const issuedAt = await store.organizations.now();
    const bytes = registerCommand(organization, document, issuedAt, signer);
    const submission = await authority.submit(organization, bytes, { principal: organization.registrar });
    if (!submission.accepted) throw new HttpRefusal(submission.refusal, { occurredAt: submission.occurredAt });
    logger.info({ tenant: organization.organizationId, agentId: document.agentId }, 'an Agent Card was registered');
    c.status(201);
    return jsonText(c, `{"agentCard":${JSON.stringify(document)},"receipt":${submission.receipt}}`);
  });
  return routes;
}

type UnsignedCard = Omit<AgentCard, 'signature'>;

/** Stands in for the signature while the rest is checked, so that a wrong Card is the caller's mistake and not a bug. */
const ANY_SIGNATURE = {
  algorithm: 'Ed25519',
  keyId: 'urn:mwp:unsigned',
  createdAt: '1970-01-01T00:00:00Z',
  value: 'AA',
};

function completed(card: object, { organizationId }: OrganizationRow, now: string): UnsignedCard {
  const { signature: _undefined, ...given } = card as Record<string, unknown>;
  const whole = { organizationId, issuedAt: now, ...given };
  const parsed = agentCardSchema.safeParse({ ...whole, signature: ANY_SIGNATURE });
  if (!parsed.success) throw fail('SCHEMA_VALIDATION_FAILED', `/card${describeFault(parsed.error)}`);
  const { signature: _signature, ...unsigned } = parsed.data;
  if (unsigned.organizationId !== organizationId) {
    throw fail('INVALID_COMMAND', 'the Card names another Organization');
  }
  const tooLarge = checkCardSize(unsigned);
  if (tooLarge) throw new HttpRefusal(tooLarge);
  if (!isCapitalZ(unsigned.issuedAt)) throw fail('SCHEMA_VALIDATION_FAILED', '/card/issuedAt must end in capital Z');
  return unsigned;
}

/** Before the Card, so that the Agent can sign from the moment its Card stands. Ends of validity come with the Card. */
async function registerKeys({ store }: AgentParts, { organizationId }: OrganizationRow, card: UnsignedCard) {
  const principal = { type: 'agent', id: card.agentId } as const;
  const keys = card.publicKeys.map(({ keyId, publicKey, validFrom }) => ({ keyId, publicKey, validFrom }));
  const displayName = registryName(card.displayName);
  await register(store.organizations, organizationId, principal, keys, { principal, displayName });
}

function registerCommand(organization: OrganizationRow, card: AgentCard, issuedAt: string, signer: Signer): Uint8Array {
  const actionId = `urn:uuid:${randomUUID()}`;
  const { document } = signDocument(
    'command',
    {
      protocolVersion: '0.1',
      actionId,
      actor: organization.registrar,
      kind: AGENT_CARD_REGISTER_KIND,
      correlationId: actionId,
      issuedAt,
      payload: { card },
    },
    signer,
  );
  return canonicalBytes(document);
}
