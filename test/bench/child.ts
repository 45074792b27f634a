// A process of its own that answers orders one at a time.
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

type Reply<Result> = { result: Result } | { error: string };

export class Child<Order, Result> {
  private readonly child: ChildProcess;

  /** `file`: beside this one. `core`: the only one that it may use, all its threads. */
  constructor(file: string, { core, env }: { core?: number; env?: Record<string, string> } = {}) {
    const node = ['--import', 'tsx'];
    this.child = fork(fileURLToPath(new URL(file, import.meta.url)), {
      ...(core === undefined
        ? { execArgv: node }
        : { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath, ...node] }),
      env: { ...process.env, ...env },
    });
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
