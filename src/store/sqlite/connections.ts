// Who uses which connection of the local store: one writer, taken turn by turn over the tenants, and a few readers, so
// that reading never waits for writing. One process owns the file (design section 1).
import { FairQueue } from '../fair-queue.ts';
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
  private readonly writing = new FairQueue({ capacity: 1 });
  private readonly reading = new FairQueue({ capacity: READER_CONNECTIONS });
  private closing: Promise<void> | undefined;

  constructor(file: string, options: { durable: boolean; pass?: PassPoint }) {
    this.pass = options.pass ?? passUnwatched;
    this.file = file;
    this.durable = options.durable;
    this.writer = new SqliteConnection(file, { durable: this.durable });
  }

  /** Runs `work` in a write transaction; commits when it asks for that, rolls back otherwise and on every exception. */
  write<Result>(
    lane: string,
    work: (connection: SqliteConnection) => Promise<{ commit: boolean; result: Result }>,
  ): Promise<Result> {
    return this.writing.run({ lane }, async () => {
      await this.writer.begin('IMMEDIATE');
      try {
        const { commit, result } = await work(this.writer);
        if (commit) this.commit();
        return result;
      } finally {
        this.writer.rollback();
      }
    });
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

  private commit(): void {
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
