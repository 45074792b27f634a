// One database, the service on it, its clients, and the examination after each fault.
import { setTimeout as delay } from 'node:timers/promises';
import { Examination, type Findings } from './examine/examination.ts';
import type { Ground } from './ground.ts';
import { Load } from './load.ts';
import type { Chance } from './random.ts';
import type { Tally } from './report.ts';
import type { Service } from './service.ts';
import { Services } from './service.ts';
import { Stage } from './stage.ts';
import { makeWorld, type Organization } from './world.ts';

/** What the load brings about within a second on a quiet machine. */
const UNTIL_MAXIMUM_MS = 30_000;
const UNTIL_LOOK_MS = 10;

export class Theatre {
  readonly ground: Ground;
  readonly stage: Stage;
  readonly organizations: readonly Organization[];
  readonly examination: Examination;
  service: Service;
  private readonly services: Services;
  private readonly load: Load;

  private constructor(ground: Ground, stage: Stage, services: Services, service: Service, made: Organization[]) {
    this.ground = ground;
    this.stage = stage;
    this.services = services;
    this.service = service;
    this.organizations = made;
    this.load = new Load(stage, made);
    this.examination = new Examination(stage, this.load);
  }

  static async open(ground: Ground, chance: Chance): Promise<Theatre> {
    const stage = new Stage(chance);
    const services = new Services();
    const service = services.next();
    await service.start(ground.environment());
    stage.url = service.url;
    const made = await makeWorld(stage);
    await stage.gate.close();
    return new Theatre(ground, stage, services, service, made);
  }

  /** A service that is not the one the clients speak to. */
  another(): Service {
    return this.services.next();
  }

  /** The next service, on the same data. */
  async serve(environment = this.ground.environment()): Promise<void> {
    this.service = this.services.next();
    await this.service.start(environment);
    this.stage.url = this.service.url;
  }

  /** Holds the clients, looks, and counts what it finds. The service is up. */
  async examine(tally: Tally, options: { whole: boolean }): Promise<Findings> {
    await this.stage.gate.close();
    const findings = await this.ground.look((look) => this.examination.examine(look, options));
    tally.add(findings);
    return findings;
  }

  /** The load for so long. */
  async play(milliseconds: number): Promise<void> {
    this.stage.gate.open();
    await delay(milliseconds);
  }

  /** Under load; false when it has not come to pass in a long while. */
  async until(holds: () => boolean): Promise<boolean> {
    this.stage.gate.open();
    const deadline = Date.now() + UNTIL_MAXIMUM_MS;
    while (!holds() && Date.now() < deadline) await delay(UNTIL_LOOK_MS);
    return holds();
  }

  async close(): Promise<void> {
    await this.load.end();
    if (this.service.isRunning) await this.service.kill();
    await this.services.close();
  }
}
