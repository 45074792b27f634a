// Turns: so many at once, one tenant after the other, few with the same key.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FairQueue, PRESENCE_MS, TURN_WAIT_MAXIMUM_MS } from '../../src/store/fair-queue.ts';

/** Jobs that end when told to, and the order in which they began. */
function bench(queue: FairQueue) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const job = (name: string, lane: string, key?: string) =>
    queue.run({ lane, ...(key !== undefined && { key }) }, async () => {
      begun.push(name);
      await new Promise<void>((end) => ends.set(name, end));
      return name;
    });
  const settle = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  const end = async (name: string) => {
    await settle();
    ends.get(name)?.();
    await settle();
  };
  return { begun, job, end, settle };
}

describe('fair queue', () => {
  afterEach(() => void vi.useRealTimers());

  it('one tenant with many jobs waiting does not hold up another with one', async () => {
    const { begun, job, end } = bench(new FairQueue({ capacity: 1 }));
    const jobs = [job('a1', 'a'), job('a2', 'a'), job('a3', 'a'), job('b1', 'b')];
    for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name);
    await Promise.all(jobs);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('jobs of one key do not take all places; the key is of its tenant alone', async () => {
    const { begun, job, end, settle } = bench(new FairQueue({ capacity: 4, perKey: 2 }));
    const jobs = [
      job('1', 'a', 'hot'),
      job('2', 'a', 'hot'),
      job('3', 'a', 'hot'),
      job('4', 'a', 'cold'),
      job('5', 'b', 'hot'),
    ];
    await settle();
    expect(begun).toEqual(['1', '2', '4', '5']);
    await end('1');
    expect(begun).toEqual(['1', '2', '4', '5', '3']);
    for (const name of ['2', '3', '4', '5']) await end(name);
    expect(await Promise.all(jobs)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('a job that fails makes room like any other', async () => {
    const queue = new FairQueue({ capacity: 1 });
    const failed = queue.run({ lane: 'a' }, () => Promise.reject(new Error('no')));
    await expect(failed).rejects.toThrow('no');
    expect(await queue.run({ lane: 'a' }, async () => 'yes')).toBe('yes');
  });

  it('who comes when too many wait is turned away', async () => {
    const queue = new FairQueue({ capacity: 1, waitingMaximum: 1 });
    const { job, end } = bench(queue);
    const jobs = [job('1', 'a'), job('2', 'a')];
    await expect(job('3', 'b')).rejects.toMatchObject({ name: 'StoreFault', kind: 'unavailable' });
    await end('1');
    await end('2');
    await Promise.all(jobs);
  });

  it('who fills the queue is turned away, not another tenant', async () => {
    const queue = new FairQueue({ capacity: 1, waitingMaximum: 3 });
    const { job, end } = bench(queue);
    const jobs = [job('a1', 'a'), job('a2', 'a'), job('a3', 'a')];
    const last = expect(job('a4', 'a')).rejects.toMatchObject({ name: 'StoreFault', kind: 'unavailable' });
    const other = job('b1', 'b');
    await last;
    await expect(job('a5', 'a')).rejects.toMatchObject({ kind: 'unavailable' });
    for (const name of ['a1', 'a2', 'b1', 'a3']) await end(name);
    expect(await Promise.all([...jobs, other])).toEqual(['a1', 'a2', 'a3', 'b1']);
  });

  it('one tenant has all places while it is alone, and its share as long as another one is there', async () => {
    vi.useFakeTimers();
    const queue = new FairQueue({ capacity: 4, perLane: 2 });
    const { begun, job, end, settle } = bench(queue);
    const alone = [1, 2, 3, 4, 5].map((at) => job(`a${at}`, 'a'));
    await settle();
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4']);
    const other = job('b1', 'b');
    for (const name of ['a1', 'b1']) await end(name);
    expect(begun.slice(4)).toEqual(['b1']);
    for (const name of ['a2', 'a3']) await end(name);
    expect(begun.slice(5)).toEqual(['a5']);
    const more = [6, 7].map((at) => job(`a${at}`, 'a'));
    await settle();
    expect(begun.slice(6)).toEqual([]);
    await vi.advanceTimersByTimeAsync(PRESENCE_MS + 1);
    await end('a4'); // and b is not there any more
    expect(begun.slice(6)).toEqual(['a6', 'a7']);
    for (const name of ['a5', 'a6', 'a7']) await end(name);
    await Promise.all([...alone, other, ...more]);
  });

  it('nobody waits for ever: who had no turn in time is told, and the others go on', async () => {
    vi.useFakeTimers();
    const queue = new FairQueue({ capacity: 1 });
    const { job, end } = bench(queue);
    const working = job('1', 'a');
    const late = expect(job('2', 'a')).rejects.toMatchObject({ name: 'StoreFault', kind: 'unavailable' });
    await vi.advanceTimersByTimeAsync(TURN_WAIT_MAXIMUM_MS);
    await late;
    const next = job('3', 'a');
    await end('1');
    await end('3');
    expect(await Promise.all([working, next])).toEqual(['1', '3']);
  });

  it('closing turns away who waits and who comes, and waits for who works', async () => {
    const queue = new FairQueue({ capacity: 1 });
    const { job, end } = bench(queue);
    const working = job('1', 'a');
    const waiting = job('2', 'a');
    let closed = false;
    const closing = queue.close().then(() => (closed = true));
    await expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(job('3', 'b')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(closed).toBe(false);
    await end('1');
    expect(await working).toBe('1');
    await closing;
  });
});
