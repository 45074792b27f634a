// What all players share: where the service is, whether it may be spoken to, and what has been said.
import { Operator } from '../../src/cli/demo/operator.ts';
import { OPERATOR_TOKEN } from '../bench/serving.ts';
import type { Chance } from './random.ts';
import { Gate } from './gate.ts';
import { Ledger } from './ledger.ts';

export class Stage {
  readonly gate = new Gate();
  readonly ledger = new Ledger();
  readonly chance: Chance;
  /** Of the service that runs now. */
  url = '';

  constructor(chance: Chance) {
    this.chance = chance;
  }

  operator(): Operator {
    return new Operator({ url: this.url, token: OPERATOR_TOKEN, signal: new AbortController().signal });
  }
}
