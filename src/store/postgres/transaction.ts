// One transaction on one session: what opens it travels with BEGIN, what ends it with COMMIT. Knows no table.
import { StoreFault } from '../port.ts';
import { faultOf } from './faults.ts';
import type { Row, Session, Statement, Value } from './session.ts';

export const READ_COMMITTED = 'BEGIN ISOLATION LEVEL READ COMMITTED';
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

const COMMIT: Statement = { text: 'COMMIT', parameters: [] };

export class Transaction {
  private readonly session: Session;
  private open = false;
  /** The first statement that failed. After it nothing can be committed, whatever the caller makes of it. */
  private failed: StoreFault | undefined;

  constructor(session: Session) {
    this.session = session;
  }

  get failure(): StoreFault | undefined {
    return this.failed;
  }

  /** One round trip; the answer of the last statement. */
  async begin<Answer extends Row>(mode: string, ...first: Statement[]): Promise<Answer[]> {
    this.open = true;
    return (await this.all([{ text: mode, parameters: [] }, ...first])) as Answer[];
  }

  async query<Answer extends Row>(text: string, parameters: Value[]): Promise<Answer[]> {
    return (await this.all([{ text, parameters }])) as Answer[];
  }

  /** One round trip. */
  async run(statements: Statement[]): Promise<void> {
    if (statements.length > 0) await this.all(statements);
  }

  /** One round trip. The answer of the last statement before COMMIT, if there is one. */
  async commit<Answer extends Row>(...last: Statement[]): Promise<Answer[]> {
    if (this.failed) throw this.failed;
    const answers = await Promise.allSettled(this.session.pipeline([...last, COMMIT]));
    const refused = answers.find((answer) => answer.status === 'rejected');
    if (refused !== undefined) {
      // Connection lost after COMMIT was sent: a fault of kind `unavailable`, and nobody knows the outcome.
      this.failed = faultOf(refused.reason);
      throw this.failed;
    }
    this.open = false;
    const values = answers.map((answer) => (answer as PromiseFulfilledResult<Row[]>).value);
    if ((values.at(-1) as { command?: string } | undefined)?.command !== 'COMMIT') {
      throw new StoreFault('conflict', 'the transaction was rolled back');
    }
    return (values.at(-2) ?? []) as Answer[];
  }

  /** Leaves the session clean, or ends it. Does nothing after a commit. */
  async rollback(): Promise<void> {
    if (!this.open) return;
    this.open = false;
    if (this.session.isGone) return;
    try {
      await this.session.query('ROLLBACK');
    } catch {
      this.session.end();
    }
  }

  private async all(statements: Statement[]): Promise<Row[]> {
    if (this.failed) throw this.failed;
    const answers = await Promise.allSettled(this.session.pipeline(statements));
    // After the first failure the others only say that the transaction is aborted.
    const refused = answers.find((answer) => answer.status === 'rejected');
    if (refused !== undefined) throw (this.failed ??= faultOf(refused.reason));
    return (answers.at(-1) as PromiseFulfilledResult<Row[]>).value;
  }
}
