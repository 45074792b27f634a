// Who uses which connection of the hosted store. Acceptances wait their turn by tenant, and leave some free for reading.
import { FairQueue } from '../fair-queue.ts';
import { SHARING_MAXIMUM, type WaitingAcceptance } from '../group-commit.ts';
import { UNOBSERVED, type StoreObserver, type TransactionPurpose } from '../observer.ts';
import { passUnwatched, type PassPoint } from '../port.ts';
import { Pool } from './pool.ts';
import { withRetries } from './retries.ts';
import type { SessionOptions, Statement } from './session.ts';
import { READ_COMMITTED, SNAPSHOT, Transaction } from './transaction.ts';

/** Whoever comes meanwhile waits here, and then shares the next transaction, rather than a connection and a lock. */
const TRANSACTIONS_PER_GROUP = 1;
/** Few at once share more, and together they do more: the database works on one while the next is decided. */
export const TRANSACTIONS_PER_TENANT = 3;
/** Of the pool, kept from acceptances: who reads while deciding must not wait for those who wait for the decision. */
const READING_SHARE = 0.25;
export const CONNECTIONS_MINIMUM = 2;
/** Of the pool, for pieces of blobs: a rush of contents leaves most of it to Commands, however many tenants take part. */
const CARRYING_SHARE = 0.25;

export const SET_TENANT = `SELECT set_config('mwp.organization', $1, true)`;
export const TAKE_LOCK = 'SELECT mwp.take_lock($1, $2)';

export class PostgresConnections {
  readonly pass: PassPoint;
  private readonly pool: Pool;
  /** For acceptances. */
  readonly accepting: FairQueue<WaitingAcceptance>;
  private readonly observer: StoreObserver;
  private readonly working: FairQueue;
  private readonly carrying: FairQueue;
  private closing: Promise<void> | undefined;

  constructor(options: SessionOptions, wanted: number) {
    this.pass = options.pass ?? passUnwatched;
    const size = Math.max(wanted, CONNECTIONS_MINIMUM);
    const { observer = UNOBSERVED } = options;
    this.observer = observer;
    this.pool = new Pool(options, size);
    const capacity = size - Math.ceil(size * READING_SHARE);
    this.accepting = new FairQueue({
      capacity,
      perLane: TRANSACTIONS_PER_TENANT,
      perKey: TRANSACTIONS_PER_GROUP,
      sharingMaximum: SHARING_MAXIMUM,
      watched: { as: 'acceptance', by: observer },
    });
    this.working = new FairQueue({ capacity: size, watched: { as: 'working', by: observer } });
    this.carrying = new FairQueue({ capacity: Math.ceil(size * CARRYING_SHARE) });
  }

  /** A write transaction of one tenant. `opening` statements, such as locks, travel with BEGIN. */
  write<Result>(
    organizationId: string,
    opening: Statement[],
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return this.working.run({ lane: organizationId }, () =>
      withRetries(
        () =>
          this.transact('write', async (transaction) => {
            transaction.begin(READ_COMMITTED, tenant(organizationId), ...opening);
            return work(transaction);
          }),
        this.observer,
      ),
    );
  }

  /** One snapshot of one tenant, read only. */
  read<Result>(organizationId: string, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.working.run({ lane: organizationId }, () =>
      this.transact('read', async (transaction) => {
        transaction.begin(SNAPSHOT, tenant(organizationId));
        return work(transaction);
      }),
    );
  }

  /** For a `write` or `read` of many bytes, of which there are many: waits for a turn of its own before. */
  carry<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result> {
    return this.carrying.run({ lane: organizationId }, work);
  }

  /** Without a tenant: sees no row but through the named functions. */
  readAcrossTenants<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.working.run({ lane: '' }, () =>
      this.transact('read', async (transaction) => {
        transaction.begin(SNAPSHOT);
        return work(transaction);
      }),
    );
  }

  close(): Promise<void> {
    this.closing ??= Promise.all([this.accepting, this.working, this.carrying].map((queue) => queue.close())).then(() =>
      this.pool.close(),
    );
    return this.closing;
  }

  /** Only for who has a turn. `work` begins the transaction and commits it; what it leaves open is rolled back. */
  transact<Result>(purpose: TransactionPurpose, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.pool.run(async (session) => {
      const transaction = new Transaction(session);
      try {
        const result = await work(transaction);
        // Whoever swallowed the failure of a statement must not believe what came after it.
        if (transaction.failure) throw transaction.failure;
        return result;
      } catch (error) {
        throw transaction.failure ?? error;
      } finally {
        transaction.rollback();
        this.observer.transactionEnded(purpose, transaction.roundTrips);
      }
    });
  }
}

export function tenant(organizationId: string): Statement {
  return { text: SET_TENANT, parameters: [organizationId] };
}
