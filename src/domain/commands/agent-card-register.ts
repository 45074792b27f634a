// agent_card_register: a registry service puts a new version of an Agent's Card, with its keys, in force (commands.md 2.1).
import type { z } from 'zod';
import type { AgentCard } from '../../protocol/documents/agent-card.ts';
import { jsonObject } from '../../protocol/documents/shapes.ts';
import type { Principal } from '../../protocol/principals.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';
import type { CommandKind, DecisionContext, RegistryDraft } from '../decider.ts';
import { activeItemLeaseReads, activeItemsRead, groupsOfActiveItems, interruptAll } from '../interruptions.ts';
import { one } from '../reads.ts';
import { hasRight, maySend } from '../rights.ts';
import type { View } from '../view.ts';
import { embeddedId, payload } from './shapes.ts';

/** Each is checked as a point of the curve, some milliseconds in which nothing else is decided. */
export const CARD_KEYS_MAXIMUM = 50;
/** An offer looks through the Cards of all its candidates. */
const CAPABILITIES_MAXIMUM = 200;
const ENDPOINTS_MAXIMUM = 50;

const KIND = 'ext.missionweaveprotocol.registry.agent_card_register';

const schema = payload({ card: jsonObject });

export type AgentCardRegisterPayload = z.infer<typeof schema>;

export const agentCardRegister: CommandKind<AgentCardRegisterPayload> = {
  kind: KIND,
  payload: schema,
  actors: ['service'],
  /** Keys change, and sessions may end: nothing else of this Organization is decided meanwhile. */
  locks: { organization: 'exclusive' },
  group: 'none',

  documents: ({ card }) => [{ path: 'card', kind: 'agent-card', value: card }],
  moreGroups: ({ payload }, view) => (isRevoked(payload) ? groupsOfActiveItems(view, agentOf(payload)) : []),
  revision: ({ payload }, view) => currentVersion(view, agentOf(payload)),

  reads: ({ payload }) => [
    one('agent_card', agentOf(payload)),
    one('session', agentOf(payload)),
    ...(isRevoked(payload) ? [activeItemsRead(agentOf(payload))] : []),
  ],
  moreReads: ({ payload }, view) => (isRevoked(payload) ? activeItemLeaseReads(view, agentOf(payload)) : []),

  decide({ payload }, view, context) {
    const card = payload.card as AgentCard;
    const refusal = checkIssuer(card, context) ?? checkVersion(card, view) ?? checkCardSize(card) ?? checkKeys(card);
    if (refusal) return refusal;
    const { agentId, cardVersion } = card;
    const registered = {
      kind: 'ext.missionweaveprotocol.registry.agent_card_registered',
      payload: {
        agentId,
        version: cardVersion,
        cardHash: context.documentHashes.get('card'),
        card,
        ...endedSessions(card, view),
      },
    };
    const interruption = { reason: 'card_revoked', causedBy: 0 } as const;
    const revoked = isRevoked(payload) ? interruptAll(view, agentId, interruption, context) : [];
    return { events: [registered, ...revoked], registry: registryOf(card) };
  },
};

function isRevoked({ card }: AgentCardRegisterPayload): boolean {
  return card['status'] === 'revoked';
}

function agentOf({ card }: AgentCardRegisterPayload): string {
  return embeddedId(card, 'agentId');
}

/** MWP-IDN-001a, MWP-SDV-001b: any service can sign a Card, but only one that may register Cards issues them. */
function checkIssuer(card: AgentCard, context: DecisionContext) {
  if (card.organizationId !== context.organizationId) {
    return refuse('AUTH_FORBIDDEN', 'the Agent Card is of another Organization');
  }
  const signer = context.documentSigners.get('card');
  if (signer?.type === 'service' && hasRight(context, card.issuedAt, (policy) => maySend(policy, signer.id, KIND))) {
    return undefined;
  }
  return refuse('AUTH_FORBIDDEN', 'the policy does not let the signer issue Agent Cards');
}

function currentVersion(view: View, agentId: string): number {
  return view.get('agent_card', agentId)?.cardVersion ?? 0;
}

function checkVersion({ agentId, cardVersion }: AgentCard, view: View): Refusal | undefined {
  const currentRevision = currentVersion(view, agentId);
  if (cardVersion > currentRevision) return undefined;
  return refuse('REVISION_CONFLICT', 'the cardVersion does not rise', { currentRevision });
}

/** The schema leaves these lists open. Asked before any key of the Card is looked at. */
export function checkCardSize(card: Pick<AgentCard, 'publicKeys' | 'capabilities' | 'endpoints'>): Refusal | undefined {
  const bounds = { publicKeys: CARD_KEYS_MAXIMUM, capabilities: CAPABILITIES_MAXIMUM, endpoints: ENDPOINTS_MAXIMUM };
  for (const member of ['publicKeys', 'capabilities', 'endpoints'] as const) {
    if (card[member].length <= bounds[member]) continue;
    return refuse('INVALID_COMMAND', `an Agent Card has at most ${bounds[member]} ${member}`);
  }
  return undefined;
}

/** What a Card alone shows of MWP-SDV-004 and -005; the Registry's constraints see the rest. */
function checkKeys({ publicKeys }: AgentCard): Refusal | undefined {
  const keyIds = new Set(publicKeys.map(({ keyId }) => keyId));
  const keys = new Set(publicKeys.map(({ publicKey }) => publicKey));
  if (keyIds.size < publicKeys.length || keys.size < publicKeys.length) {
    return refuse('INVALID_COMMAND', 'the Agent Card names a key twice');
  }
  return undefined;
}

/** Revocation ends every session so far. What ended stays ended under later Cards. */
function endedSessions({ agentId, status }: AgentCard, view: View): { endedSessionEpoch?: number } {
  const before = view.get('agent_card', agentId)?.endedSessionEpoch;
  const endedSessionEpoch = status === 'revoked' ? view.get('session', agentId)?.sessionEpoch : before;
  return endedSessionEpoch === undefined ? {} : { endedSessionEpoch };
}

function registryOf({ agentId, displayName, publicKeys }: AgentCard): RegistryDraft {
  const principal: Principal = { type: 'agent', id: agentId };
  return {
    principals: [{ principal, displayName: registryName(displayName) }],
    bindings: publicKeys.map(({ keyId, publicKey, validFrom }) => ({ keyId, principal, publicKey, validFrom })),
    validity: publicKeys
      .filter(({ validUntil, revokedAt }) => validUntil !== undefined || revokedAt !== undefined)
      .map(({ keyId, validUntil, revokedAt }) => ({
        keyId,
        ...(validUntil !== undefined && { validUntil }),
        ...(revokedAt !== undefined && { revokedAt }),
      })),
  };
}

/** A Card's name may hold any text; the Registry shows one line of it, and no database takes a NUL. */
export function registryName(displayName: string): string {
  return displayName.replace(/\p{Cc}/gu, '\uFFFD');
}
