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
    const queue = new FairQueue({ capacity: 4, perLaneBeside: 2 });
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

  describe('a shared turn', () => {
    /** Holds the only turn, lets these wait, and tells what each turn after it was given. */
    async function parties(loads: [load: string, lane: string, key?: string][], sharingMaximum = 4) {
      const queue = new FairQueue<string>({ capacity: 1, perKey: 1, sharingMaximum });
      const { job, end } = bench(queue as unknown as FairQueue);
      const holding = job('holding', 'a');
      const seen: string[][] = [];
      const done = loads.map(async ([load, lane, key]) => {
        const turn = await queue.share({ lane, ...(key !== undefined && { key }) }, load);
        if (!turn) return;
        seen.push(turn.loads);
        turn.end();
      });
      await end('holding');
      await Promise.all([holding, ...done]);
      return seen;
    }

    it('takes along who waits in the same lane, in the order of their coming, up to the bound', async () => {
      const one = ['1', '2', '3', '4', '5'].map((load): [string, string] => [load, 'a']);
      expect(await parties([...one, ['b1', 'b']])).toEqual([['1', '2', '3', '4'], ['b1'], ['5']]);
      expect(await parties(one, 1)).toEqual([['1'], ['2'], ['3'], ['4'], ['5']]);
    });

    it('takes along who has the same key, and nobody whose key is held by another turn', async () => {
      const queue = new FairQueue<string>({ capacity: 2, perKey: 1, sharingMaximum: 4 });
      const hot = await queue.share({ lane: 'a', key: 'hot' }, 'hot 1');
      const cold = await queue.share({ lane: 'a', key: 'cold' }, 'cold 1');
      const waiting = [
        queue.share({ lane: 'a', key: 'hot' }, 'hot 2'),
        queue.share({ lane: 'a', key: 'cold' }, 'cold 2'),
        queue.share({ lane: 'a', key: 'cold' }, 'cold 3'),
        queue.share({ lane: 'a' }, 'free'),
      ];
      cold?.end();
      expect((await waiting[1])?.loads).toEqual(['cold 2', 'cold 3', 'free']);
      expect(await Promise.all([waiting[2], waiting[3]])).toEqual([undefined, undefined]);
      hot?.end();
      expect((await waiting[0])?.loads).toEqual(['hot 2']);
    });

    it('is never taken along by a job that works alone, nor takes one along', async () => {
      const queue = new FairQueue<string>({ capacity: 1, sharingMaximum: 4 });
      const { begun, job, end, settle } = bench(queue as unknown as FairQueue);
      const first = job('alone 1', 'a');
      const shared = [queue.share({ lane: 'a' }, '1')];
      const second = job('alone 2', 'a');
      shared.push(queue.share({ lane: 'a' }, '2'));
      await end('alone 1');
      const turn = await shared[0];
      expect(turn?.loads).toEqual(['1', '2']);
      expect(begun).toEqual(['alone 1']);
      turn?.end();
      await settle();
      expect(begun).toEqual(['alone 1', 'alone 2']);
      await end('alone 2');
      await Promise.all([first, second]);
    });

    it('of one lane is bounded in number, so that other lanes find a place', async () => {
      const queue = new FairQueue<string>({ capacity: 3, perLane: 2 });
      const of = (lane: string) => queue.share({ lane }, lane);
      const [a1, a2] = await Promise.all([of('a'), of('a')]);
      let third = 'waits';
      const a3 = of('a').then((turn) => ((third = 'began'), turn));
      const b1 = await of('b');
      expect(third).toBe('waits');
      a1?.end();
      for (const turn of [a2, b1, await a3]) turn?.end();
      await queue.close();
    });
  });
});
