// Who uses which connection of the local store: one writer, taken turn by turn over the tenants, and a few readers, so
// that reading never waits for writing. One process owns the file (design section 1).
import { FairQueue } from '../fair-queue.ts';
import { SHARING_MAXIMUM, type WaitingAcceptance } from '../group-commit.ts';
import type { QueueObserver } from '../observer.ts';
import { passUnwatched, type PassPoint } from '../port.ts';
import { SqliteConnection } from './connection.ts';

/** Each reading holds one while its snapshot lives; more would only wait for the same disk. */
export const READER_CONNECTIONS = 4;

export class SqliteConnections {
  readonly pass: PassPoint;
  private readonly file: string;
  private readonly durable: boolean;
  private readonly writer: SqliteConnection;
  private readonly readers: SqliteConnection[] = [];
  /** For the one writer: acceptances may share a turn, everything else has it alone. */
  readonly writing: FairQueue<WaitingAcceptance>;
  private readonly reading: FairQueue;
  private closing: Promise<void> | undefined;

  constructor(file: string, options: { durable: boolean; observer: QueueObserver; pass?: PassPoint }) {
    this.pass = options.pass ?? passUnwatched;
    const { observer } = options;
    this.writing = new FairQueue({
      capacity: 1,
      sharingMaximum: SHARING_MAXIMUM,
      watched: { as: 'writing', by: observer },
    });
    this.reading = new FairQueue({ capacity: READER_CONNECTIONS, watched: { as: 'reading', by: observer } });
    this.file = file;
    this.durable = options.durable;
    this.writer = new SqliteConnection(file, { durable: this.durable });
  }

  /** Runs `work` in a write transaction; commits when it asks for that, rolls back otherwise and on every exception. */
  write<Result>(
    lane: string,
    work: (connection: SqliteConnection) => Promise<{ commit: boolean; result: Result }>,
  ): Promise<Result> {
    return this.writing.run({ lane }, () =>
      this.transact(async (connection) => {
        const { commit, result } = await work(connection);
        if (commit) this.commit();
        return result;
      }),
    );
  }

  /** As `write`, for what is not worth a sync of the disk, which every other tenant's next write would wait for. */
  writeRelaxed(lane: string, work: (connection: SqliteConnection) => void): Promise<void> {
    return this.writing.run({ lane }, async () => {
      this.writer.waitForDisk(false);
      try {
        await this.transact(async (connection) => {
          work(connection);
          this.commit();
        });
      } finally {
        this.writer.waitForDisk(true);
      }
    });
  }

  /** In the one turn of writing. Throws StoreFault 'busy'. */
  scrub(): Promise<void> {
    return this.writing.run({ lane: '' }, () => this.writer.scrub());
  }

  /** Only for who has a turn of `writing`. What `work` does not commit is rolled back. */
  async transact<Result>(work: (connection: SqliteConnection) => Promise<Result>): Promise<Result> {
    await this.writer.begin('IMMEDIATE');
    try {
      return await work(this.writer);
    } finally {
      this.writer.rollback();
    }
  }

  /** Runs `work` on one snapshot. */
  read<Result>(lane: string, work: (connection: SqliteConnection) => Promise<Result>): Promise<Result> {
    return this.reading.run({ lane }, async () => {
      const reader = this.readers.pop() ?? new SqliteConnection(this.file, { durable: this.durable, reading: true });
      try {
        await reader.begin('DEFERRED');
        return await work(reader);
      } finally {
        reader.rollback();
        this.readers.push(reader);
      }
    });
  }

  /** Only inside `transact`. */
  commit(): void {
    this.pass('commit-due');
    this.writer.commit();
    this.pass('committed');
  }

  close(): Promise<void> {
    this.closing ??= Promise.all([this.writing.close(), this.reading.close()]).then(() => {
      for (const reader of this.readers) reader.close();
      this.writer.close();
    });
    return this.closing;
  }
}
