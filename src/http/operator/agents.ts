// POST /organizations/{slug}/agents: an Agent Card, signed by the registrar and registered through the authority like any
// other Command.
import { Hono } from 'hono';
import type { Authority, ServiceSigners } from '../../authority/ports.ts';
import type { Logger } from '../../platform/logger.ts';
import { checkCardSize, registryName } from '../../domain/commands/agent-card-register.ts';
import type { AgentCard } from '../../protocol/documents/agent-card.ts';
import { isCapitalZ } from '../../protocol/timestamps.ts';
import type { AuthorityStore, OrganizationRow } from '../../store/port.ts';
import { signDocument, type Signer } from '../../trust/signing.ts';
import { canonicalBytes } from '../../wire/canonical.ts';
import { jsonBody } from '../bodies.ts';
import { fail, HttpRefusal } from '../errors.ts';
import { jsonText } from '../json-text.ts';
import { namesOf } from '../watching.ts';
import { declared } from '../openapi/operation.ts';
import type { Directory } from '../tenancy.ts';
import { agentBody, type CardDraft } from './bodies.ts';
import { AGENT_CARD_REGISTER_KIND } from './new-organization.ts';
import { OPERATIONS } from './operations.ts';
import { organizationOf } from './outcomes.ts';
import { register } from './registration.ts';
import { repeatedCard } from './repeated-card.ts';

export interface AgentParts {
  store: AuthorityStore;
  authority: Authority;
  signers: ServiceSigners;
  directory: Directory;
  logger: Logger;
  /** A fresh `urn:uuid:` id. */
  newId: () => string;
}

export function agentRoutes(parts: AgentParts): Hono {
  const { store, directory, signers, authority, logger } = parts;
  const routes = new Hono();
  routes.post(
    '/organizations/:slug/agents',
    declared(OPERATIONS.registerAgent, async (c) => {
      const organization = await organizationOf(c, directory);
      const { card } = await jsonBody(c, agentBody);
      // Of Card, Command and key alike, so that no rotation falls between them.
      const issuedAt = await store.organizations.now();
      const unsigned = completed(card, organization, issuedAt);
      const signer = await signers.signerOf(organization, organization.registrar, issuedAt);
      await registerKeys(parts, organization, unsigned);
      const { document } = signDocument('agent-card', unsigned, signer);
      const envelope = { actionId: parts.newId(), issuedAt };
      const bytes = registerCommand(organization, document, envelope, signer);
      const caller = { principal: organization.registrar, requestId: namesOf(c).requestId };
      const submission = await authority.submit(organization, bytes, caller);
      if (!submission.accepted) {
        const { refusal, occurredAt } = submission;
        const isOld = refusal.code === 'REVISION_CONFLICT';
        const repeated = isOld && (await repeatedCard(store, organization.organizationId, unsigned, datingOf(card)));
        if (!repeated) throw new HttpRefusal(refusal, { occurredAt });
        c.status(201);
        return jsonText(c, `{"agentCard":${repeated.agentCard},"receipt":${repeated.receipt}}`);
      }
      logger.info({ tenant: organization.organizationId, agentId: document.agentId }, 'an Agent Card was registered');
      c.status(201);
      return jsonText(c, `{"agentCard":${JSON.stringify(document)},"receipt":${submission.receipt}}`);
    }),
  );
  return routes;
}

function datingOf(card: object): { isDated: boolean } {
  return { isDated: 'issuedAt' in card };
}

type UnsignedCard = Omit<AgentCard, 'signature'>;

function completed(card: CardDraft, { organizationId }: OrganizationRow, now: string): UnsignedCard {
  const { signature: _undefined, ...given } = card;
  const unsigned = {
    ...given,
    organizationId: given.organizationId ?? organizationId,
    issuedAt: given.issuedAt ?? now,
  };
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

function registerCommand(
  organization: OrganizationRow,
  card: AgentCard,
  { actionId, issuedAt }: { actionId: string; issuedAt: string },
  signer: Signer,
): Uint8Array {
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
