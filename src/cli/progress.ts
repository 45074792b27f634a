// How far a long verification is, on one line of a terminal and nowhere else.

/** Between two lines. */
const PAUSE_MS = 200;

export class Progress {
  private events = 0;
  private shownAt = 0;
  private readonly what: string;
  private readonly stream: NodeJS.WriteStream;

  constructor(what: string, stream: NodeJS.WriteStream = process.stderr) {
    this.what = what;
    this.stream = stream;
  }

  add(events: number): void {
    this.events += events;
    if (!this.stream.isTTY || Date.now() - this.shownAt < PAUSE_MS) return;
    this.shownAt = Date.now();
    this.stream.write(`\r${this.what}  ${this.events} Events …`);
  }

  clear(): void {
    if (this.stream.isTTY && this.shownAt > 0) this.stream.write('\r\u001b[K');
  }
}
