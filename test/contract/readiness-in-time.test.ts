// Readiness when a dependency says nothing, and when everybody asks at once.
import { afterEach, describe, expect, it } from 'vitest';
import { Readiness } from '../../src/http/readiness.ts';
import { newPlace, Serving } from '../support/serving.ts';
import { openWire, type Wire } from './proxy.ts';

const HUNDRED = Array.from({ length: 100 });

describe('readiness of a service whose PostgreSQL falls silent', { timeout: 60_000 }, () => {
  const opened: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  const isReady = async ({ url }: Serving) => {
    const answer = await fetch(`${url}/readyz`);
    const text = await answer.text();
    return { status: answer.status, text, report: JSON.parse(text) as Record<string, unknown> };
  };

  it('is 503 within three seconds, names what is silent and no address, and costs the same for one probe and a hundred', async () => {
    const place = await newPlace('postgres');
    opened.push(place.giveBack);
    const wire: Wire = await openWire(place.environment['DATABASE_URL'] ?? '');
    opened.push(() => wire.close());
    const serving = await Serving.start({ ...place.environment, DATABASE_URL: wire.url, MWP_LOG_LEVEL: 'silent' });
    opened.push(() => serving.service.stop());
    expect((await isReady(serving)).report).toEqual({
      status: 'ready',
      dependencies: { database: 'ready', keys: 'ready' },
    });

    wire.mute(true);
    let last = await isReady(serving);
    while (last.status === 200) last = await isReady(serving); // what was found before stands for a moment
    const before = wire.opened();
    const begun = performance.now();
    const answers = await Promise.all(HUNDRED.map(() => isReady(serving)));
    expect(performance.now() - begun).toBeLessThan(3_000);
    for (const { status, report, text } of answers) {
      expect([status, report['status']]).toEqual([503, 'not_ready']);
      expect(report['dependencies']).toMatchObject({ database: 'silent' });
      expect(text).not.toMatch(/127\.0\.0\.1|:\d{4}|postgres/);
    }
    expect(wire.opened() - before).toBeLessThanOrEqual(1);
    expect((await fetch(`${serving.url}/healthz`)).status).toBe(200);

    wire.mute(false);
    wire.cut(); // what was lost on the way does not come any more
    let again = await isReady(serving);
    while (again.status !== 200) again = await isReady(serving);
    expect(again.report).toMatchObject({ status: 'ready' });
  });
});

describe('readiness', () => {
  it('asks each dependency once for everybody who asks together, and not again for a moment', async () => {
    let asked = 0;
    const readiness = new Readiness({ database: async () => ((asked += 1), []) });
    await Promise.all(HUNDRED.map(() => readiness.ask()));
    await readiness.ask();
    expect(asked).toBe(1);
  });

  it('tells of one that says nothing at its bound, at once from then on, and asks it again when it spoke', async () => {
    let asked = 0;
    let speak: (problems: string[]) => void = () => undefined;
    const silent = () => {
      asked += 1;
      return new Promise<string[]>((resolve) => (speak = resolve));
    };
    const readiness = new Readiness(
      { database: silent, keys: async () => [] },
      { answerMaximum: 30, freshMilliseconds: 0 },
    );
    const report = { status: 'not_ready', dependencies: { database: 'silent', keys: 'ready' } };
    expect(await readiness.ask()).toMatchObject({ ...report, problems: ['database: no answer in time'] });
    for (let time = 0; time < 5; time += 1) expect(await readiness.ask()).toMatchObject(report);
    expect(asked).toBe(1);
    speak([]);
    await new Promise((resolve) => setImmediate(resolve));
    const next = readiness.ask();
    await Promise.resolve();
    speak([]);
    expect(await next).toMatchObject({ status: 'ready' });
    expect(asked).toBe(2);
  });

  it('repeats no word of an error, which may hold an address', async () => {
    const readiness = new Readiness({ database: () => Promise.reject(new Error('connect 10.1.2.3:5432')) });
    expect(await readiness.ask()).toEqual({
      status: 'not_ready',
      dependencies: { database: 'not_ready' },
      problems: ['database: no answer'],
    });
  });
});
