// The operator's side of the demo: Organizations, principals, Agent Cards and policy, over the operator API. What it asks
// for must work, or there is no stage to play on, so here a problem throws.

import type { Principal } from '../../protocol/principals.ts';
import type { Policy } from '../../domain/policy.ts';
import type { SignedDocument, UnsignedDocument } from '../../trust/signed-kinds.ts';
import type { Receipt } from '../../worker/answers.ts';
import { exchange, type Exchange } from '../../worker/exchange.ts';
import type { ActorKey } from '../../worker/keys.ts';
import { describeProblem } from '../../worker/outcome.ts';

export interface OrganizationAnswer {
  readonly organizationId: string;
  readonly slug: string;
  readonly authority: Principal;
  readonly keys: readonly { readonly keyId: string; readonly principal: Principal; readonly publicKey: string }[];
}

export type CardDraft = Omit<UnsignedDocument<'agent-card'>, 'organizationId' | 'issuedAt'>;

export class Operator {
  private readonly base: string;
  private readonly token: string;
  private readonly signal: AbortSignal;

  constructor(options: { url: string; token: string; signal: AbortSignal }) {
    this.base = `${options.url}/v1/operator/organizations`;
    this.token = options.token;
    this.signal = options.signal;
  }

  createOrganization(slug: string, displayName: string): Promise<OrganizationAnswer> {
    return this.call('POST', '', { slug, displayName });
  }

  registerPrincipal(slug: string, key: ActorKey, displayName: string): Promise<unknown> {
    const keys = [{ keyId: key.keyId, publicKey: key.publicKey }];
    return this.call('POST', `/${slug}/principals`, { principal: key.principal, displayName, keys });
  }

  /** The Organization's registrar signs the Card; its keys and the agent's principal are registered along with it. */
  registerAgent(slug: string, card: CardDraft): Promise<{ agentCard: SignedDocument<'agent-card'>; receipt: Receipt }> {
    return this.call('POST', `/${slug}/agents`, { card });
  }

  policy(slug: string): Promise<Policy> {
    return this.call('GET', `/${slug}/policy`);
  }

  putPolicy(slug: string, policy: Policy): Promise<Policy> {
    return this.call('PUT', `/${slug}/policy`, policy);
  }

  private async call<Answer>(method: Exchange['method'], path: string, body?: unknown): Promise<Answer> {
    const { token, signal } = this;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await exchange({ method, url: this.base + path, token, signal, ...(text && { body: text }) });
    if (!answer.ok) throw new Error(`operator API, ${method} ${path}: ${describeProblem(answer.problem)}`);
    return answer.value.value as Answer;
  }
}
