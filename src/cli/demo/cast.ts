// Who plays: one human owner, one coordinator, three workers; beside them another human who may look on, a stranger who
// may not, a human who audits the Organization and a service that archives. Registered over the operator API, agents with a
// signed Card each.

import { sha256Label } from '../../wire/canonical.ts';
import type { Principal, PrincipalType } from '../../protocol/principals.ts';
import { timestampFromMillis } from '../../protocol/timestamps.ts';
import { Actor } from './actor.ts';
import type { Journal } from './journal.ts';
import type { CardDraft, Operator } from './operator.ts';

export interface Cast {
  readonly olga: Actor;
  readonly otto: Actor;
  readonly cora: Actor;
  readonly ada: Actor;
  readonly ben: Actor;
  readonly cleo: Actor;
  readonly sid: Actor;
  readonly iris: Actor;
  readonly arno: Actor;
}

interface Part {
  readonly type: PrincipalType;
  readonly name: string;
  readonly does: string;
}

export const PARTS: Readonly<Record<keyof Cast, Part>> = {
  olga: { type: 'human', name: 'Olga', does: 'human, owns both missions' },
  otto: { type: 'human', name: 'Otto', does: 'human, looks on' },
  cora: { type: 'agent', name: 'Cora', does: 'agent, coordinates both missions' },
  ada: { type: 'agent', name: 'Ada', does: 'agent, works in both missions' },
  ben: { type: 'agent', name: 'Ben', does: 'agent, works in mission A' },
  cleo: { type: 'agent', name: 'Cleo', does: 'agent, works in mission B' },
  sid: { type: 'agent', name: 'Sid', does: 'agent, a stranger to both' },
  iris: { type: 'human', name: 'Iris', does: 'human, audits what was refused' },
  arno: { type: 'service', name: 'Arno', does: 'service, archives what is over' },
};

const WORK_CAPABILITIES = [
  'software.requirements',
  'software.implementation',
  'software.testing',
  'software.review',
  'software.integration',
];
export const CAPABILITY_VERSION = '1.0.0';
export const CARD_VERSION = 1;

export interface Assembly {
  readonly operator: Operator;
  readonly url: string;
  readonly organization: string;
  readonly journal: Journal;
  readonly signal: AbortSignal;
}

/** Known before anybody is registered, as the policy has to name some. */
export function principalOf(role: keyof Cast): Principal {
  const { type } = PARTS[role];
  return { type, id: `https://demo.example/${type}s/${role}` };
}

/** Everybody registered, logged in, and the agents in their first session. */
export async function assembleCast(assembly: Assembly): Promise<Cast> {
  const { operator, organization } = assembly;
  const cast = {} as Record<keyof Cast, Actor>;
  for (const [role, part] of Object.entries(PARTS) as [keyof Cast, Part][]) {
    const actor = new Actor({ ...assembly, name: part.name, principal: principalOf(role) });
    if (part.type === 'agent') await operator.registerAgent(organization, cardOf(actor, part));
    else await operator.registerPrincipal(organization, actor.key, part.name);
    cast[role] = actor;
  }
  await Promise.all(Object.values(cast).map((actor) => actor.arrive()));
  return cast;
}

function cardOf(actor: Actor, part: Part): CardDraft {
  const { principal, key } = actor;
  const validFrom = timestampFromMillis(Date.now());
  const capabilities = part.does.includes('coordinates') ? ['software.coordination'] : WORK_CAPABILITIES;
  return {
    agentId: principal.id,
    cardVersion: CARD_VERSION,
    displayName: part.name,
    description: part.does,
    owner: { type: 'human', id: 'https://demo.example/humans/olga' },
    status: 'active',
    protocolVersions: ['0.1'],
    endpoints: [{ transport: 'wss', uri: `wss://agents.demo.example/${part.name.toLowerCase()}` }],
    publicKeys: [{ keyId: key.keyId, algorithm: 'Ed25519', publicKey: key.publicKey, validFrom }],
    capabilities: capabilities.map((id) => ({
      id,
      version: CAPABILITY_VERSION,
      inputSchema: `https://demo.example/schemas/${id}/input`,
      inputSchemaHash: sha256Label(`${id}/input`),
      outputSchema: `https://demo.example/schemas/${id}/output`,
      outputSchemaHash: sha256Label(`${id}/output`),
      constraints: {},
      verifiedEvidence: [`https://demo.example/evidence/${id}`],
    })),
    maxConcurrency: 4,
  };
}
