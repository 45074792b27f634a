// One transaction on one session: what opens it travels with BEGIN, what ends it with COMMIT. Knows no table.
import { StoreFault } from '../port.ts';
import { faultOf } from './faults.ts';
import type { Row, Session, Statement, Value } from './session.ts';

export const READ_COMMITTED = 'BEGIN ISOLATION LEVEL READ COMMITTED';
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

const COMMIT: Statement = { text: 'COMMIT', parameters: [] };
const ROLLBACK: Statement = { text: 'ROLLBACK', parameters: [] };

export class Transaction {
  private readonly session: Session;
  private open = false;
  private sent = 0;
  /** Waits to travel with the next statements. */
  private unsent: Statement[] = [];
  /** The first statement that failed. After it nothing can be committed, whatever the caller makes of it. */
  private failed: StoreFault | undefined;

  constructor(session: Session) {
    this.session = session;
  }

  /** That were waited for: a ROLLBACK is not. */
  get roundTrips(): number {
    return this.sent;
  }

  get failure(): StoreFault | undefined {
    return this.failed;
  }

  /** Sends nothing yet: BEGIN and what comes `first` travel with the next statement. */
  begin(mode: string, ...first: Statement[]): void {
    this.unsent = [{ text: mode, parameters: [] }, ...first];
  }

  /** One round trip. */
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
    this.session.pass('commit-due');
    const answers = await Promise.allSettled(this.send([...last, COMMIT], () => this.session.pass('commit-sent')));
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
    this.session.pass('committed');
    return (values.at(-2) ?? []) as Answer[];
  }

  /** Nobody need wait for it: what is sent next on this session comes after it. Does nothing after a commit. */
  rollback(): void {
    if (!this.open) return;
    this.open = false;
    for (const answer of this.session.pipeline([ROLLBACK])) answer.catch(() => this.session.end());
  }

  private async all(statements: Statement[]): Promise<Row[]> {
    if (this.failed) throw this.failed;
    const answers = await Promise.allSettled(this.send(statements));
    // After the first failure the others only say that the transaction is aborted.
    const refused = answers.find((answer) => answer.status === 'rejected');
    if (refused !== undefined) throw (this.failed ??= faultOf(refused.reason));
    return (answers.at(-1) as PromiseFulfilledResult<Row[]>).value;
  }

  private send(statements: Statement[], onceSent?: () => void): Promise<Row[]>[] {
    const travelling = [...this.unsent, ...statements];
    this.unsent = [];
    this.open = true;
    this.sent += 1;
    return this.session.pipeline(travelling, onceSent);
  }
}
