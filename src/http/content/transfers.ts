// How many contents are on their way in or out at the same time: each holds a file open for as long as the other side likes.
import { principalKey, type Principal } from '../../protocol/principals.ts';
import { refuse, type Refusal } from '../../protocol/refusals.ts';

/** Of one principal; a runtime that fetches its inputs takes a few at a time. */
const PRINCIPAL_MAXIMUM = 16;
/** Of one Organization, so that no tenant takes what the others need. */
const ORGANIZATION_MAXIMUM = 64;
/** Milliseconds; small contents take less. */
const RETRY_AFTER = 1_000;

export interface Carrier {
  organizationId: string;
  principal: Principal;
}

export class Transfers {
  private readonly underWay = new Map<string, number>();

  /** Asked before there is anything to hold; what comes at the very same time may pass by one or two. */
  refusal(carrier: Carrier): Refusal | undefined {
    const [own, shared] = namesOf(carrier);
    const isFull = this.count(own) >= PRINCIPAL_MAXIMUM || this.count(shared) >= ORGANIZATION_MAXIMUM;
    if (!isFull) return undefined;
    return refuse('RATE_LIMITED', 'too many contents are on their way', {
      retryAfterMs: RETRY_AFTER,
      details: { limit: 'content_transfers' },
    });
  }

  /** The answer ends it, once. */
  begin(carrier: Carrier): () => void {
    const names = namesOf(carrier);
    for (const name of names) this.underWay.set(name, this.count(name) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const name of names) this.end(name);
    };
  }

  private count(name: string): number {
    return this.underWay.get(name) ?? 0;
  }

  private end(name: string): void {
    const left = this.count(name) - 1;
    if (left > 0) this.underWay.set(name, left);
    else this.underWay.delete(name);
  }
}

/** A URI holds no blank, so no principal is taken for an Organization. */
function namesOf({ organizationId, principal }: Carrier): [own: string, shared: string] {
  return [`${organizationId} ${principalKey(principal)}`, organizationId];
}
