// A process of its own that answers orders one at a time.
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

type Reply<Result> = { result: Result } | { error: string };

export class Child<Order, Result> {
  private readonly child: ChildProcess;

  /** `file`: beside this one. */
  constructor(file: string) {
    this.child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: ['--import', 'tsx'] });
  }

  ask(order: Order): Promise<Result> {
    return new Promise((resolve, reject) => {
      const gone = (code: number | null) => reject(new Error(`a process of the bench ended with ${code}`));
      this.child.once('exit', gone);
      this.child.once('message', (reply: Reply<Result>) => {
        this.child.off('exit', gone);
        if ('result' in reply) resolve(reply.result);
        else reject(new Error(reply.error));
      });
      this.child.send(order as object);
    });
  }

  end(): void {
    this.child.kill();
  }
}

/** The other side of `Child`. */
export function answerOrders<Order, Result>(carryOut: (order: Order) => Promise<Result>): void {
  process.on('message', (order: Order) => {
    carryOut(order).then(
      (result) => process.send?.({ result }),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    );
  });
}
