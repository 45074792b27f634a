// The operator under load: principals with keys, Agents with Cards, policies, Organizations. An answer that did not come is
// asked for again, in the same words; repeating is no error there.
import { generateActorKey } from '../../../src/worker/keys.ts';
import type { OrganizationAnswer } from '../../../src/cli/demo/operator.ts';
import { agentCard } from '../../transport/cards.ts';
import { LoadIsOver } from '../gate.ts';
import type { Chance } from '../random.ts';
import type { Stage } from '../stage.ts';
import { id } from './work.ts';

/** Each one is looked into after every fault. */
const RARELY = 0.1;

/** What was answered, and so must be there. */
export interface Registered {
  slug: string;
  what: 'principal' | 'card' | 'policy' | 'organization';
  /** The principal's id, the policy's version, the Organization's id. */
  name: string;
}

export class Registrar {
  readonly registered: Registered[] = [];
  private readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  async registerOne(slug: string, chance: Chance): Promise<void> {
    const what = chance.isLucky(RARELY) ? 'organization' : chance.of(['principal', 'card', 'policy'] as const);
    const name = await this[what](slug);
    if (name !== undefined) this.registered.push({ slug, what, name });
  }

  private async principal(slug: string): Promise<string> {
    const key = generateActorKey({ type: 'human', id: id() });
    await this.insist(() => this.stage.operator().registerPrincipal(slug, key, 'Somebody'));
    return key.principal.id;
  }

  private async card(slug: string): Promise<string> {
    const key = generateActorKey({ type: 'agent', id: id() });
    const card = agentCard(key);
    await this.insist(() => this.stage.operator().registerAgent(slug, card as never));
    return key.principal.id;
  }

  /** Names the version that it replaces, so a repeated one is refused if the first was heard. */
  private async policy(slug: string): Promise<string | undefined> {
    const before = await this.insist(() => this.stage.operator().policy(slug));
    const put = () => this.stage.operator().putPolicy(slug, before);
    const after = await this.insist(put).catch((error: Error) => {
      if (error.message.includes('REVISION_CONFLICT')) return undefined;
      throw error;
    });
    return after && String(after.version);
  }

  private async organization(): Promise<string | undefined> {
    const slug = id().slice('urn:uuid:'.length);
    const create = () => this.stage.operator().createOrganization(slug, 'One more');
    const made = await this.insist<OrganizationAnswer | undefined>(create).catch((error: Error) => {
      // The first request was heard, and its answer was lost.
      if (error.message.includes('INVALID_STATE_TRANSITION')) return undefined;
      throw error;
    });
    return made?.organizationId;
  }

  /** Until there is an answer. */
  private async insist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await this.stage.gate.through(ask);
      } catch (error) {
        if (error instanceof LoadIsOver) throw error;
        const lost = /unreachable|INTERNAL_ERROR|unreadable/.test((error as Error).message);
        if (!lost) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}
