// Start and stop as one contract, and a log that keeps secrets.
import { describe, expect, it } from 'vitest';
import { Lifecycle } from '../../src/platform/lifecycle.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { BoundedCache } from '../../src/platform/bounded-cache.ts';

describe('the lifecycle', () => {
  it('stops what started last first, each once, however often it is told', async () => {
    const stopped: string[] = [];
    const lifecycle = new Lifecycle();
    for (const name of ['store', 'workers', 'server']) lifecycle.started({ name, stop: () => void stopped.push(name) });
    const first = lifecycle.stop();
    expect(lifecycle.stop()).toBe(first);
    await first;
    await lifecycle.stop();
    expect(stopped).toEqual(['server', 'workers', 'store']);
  });

  it('may be stopped before anything started; what starts then is refused', async () => {
    const lifecycle = new Lifecycle();
    await lifecycle.stop();
    expect(lifecycle.isStopping).toBe(true);
    expect(() => lifecycle.started({ name: 'late', stop: () => undefined })).toThrow(/while everything stops/);
  });

  it('waits for a step no longer than its bound, reports it and what fails, and goes on', async () => {
    const told: string[] = [];
    const lifecycle = new Lifecycle({ drainMaximum: 5, report: (message) => told.push(message) });
    let closed = false;
    lifecycle.started({ name: 'the store', stop: () => void (closed = true) });
    lifecycle.started({ name: 'a broken one', stop: () => Promise.reject(new Error('no')) });
    lifecycle.started({ name: 'a hanging one', stop: () => new Promise(() => undefined) });
    await lifecycle.stop();
    expect(told).toEqual(['a hanging one did not stop within 5 ms', 'a broken one failed to stop']);
    expect(closed).toBe(true);
  });
});

describe('the log', () => {
  const logged = (write: (log: ReturnType<typeof createLogger>) => void) => {
    let text = '';
    write(createLogger('trace', { write: (line) => void (text += line) }));
    return text;
  };

  it('is one JSON object a line with a time in UTC', () => {
    const line = logged((log) => log.info({ tenant: 'urn:x:1' }, 'hello'));
    expect(JSON.parse(line)).toMatchObject({ service: 'mwp-authority', tenant: 'urn:x:1', msg: 'hello' });
    expect((JSON.parse(line) as { time: string }).time).toMatch(/Z$/);
  });

  it('redacts by name what could hold a secret, and of an error writes no more than type, message and stack', () => {
    const secret = 'c2VjcmV0';
    const error = Object.assign(new Error('query failed'), { parameters: [secret], query: secret });
    const text = logged((log) => {
      log.info({ token: secret, payload: { text: secret }, request: { authorization: secret }, seed: secret });
      log.error({ err: error }, 'oops');
    });
    expect(text).not.toContain(secret);
    expect(text).toContain('query failed');
  });
});

describe('a bounded cache', () => {
  it('forgets the oldest when full, and what is set again is young again', () => {
    const cache = new BoundedCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('a', 3);
    cache.set('c', 4);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([3, undefined, 4]);
    cache.delete('a');
    expect(cache.get('a')).toBeUndefined();
  });
});
