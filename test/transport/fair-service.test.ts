// In what order tenants are served when one of them floods the process: counted in answers, not in time.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fairTurns, IN_HAND_OF_ONE_MAXIMUM } from '../../src/http/turns.ts';
import type { ActorKey } from '../../src/worker/keys.ts';
import { UNOBSERVED } from '../../src/store/observer.ts';
import { STORES, type OpenedStore } from '../support/replayed-stores.ts';
import { Mission } from '../support/mission.ts';
import { Tenant } from '../support/tenant.ts';
import { Api } from './api.ts';

const FLOOD = 400;
const PLENTY = { perSecond: 100_000, burst: 1_000_000 };
const BOTH = { organization: PLENTY, actor: PLENTY };
/** Nothing but the order of turns holds the flood back. */
const policy = { rates: { commands: BOTH, reads: BOTH, logins: BOTH } };

describe.each(STORES)('$name: fair service', ({ open }) => {
  let opened: OpenedStore;
  let steady: { tenant: Tenant; api: Api; olga: ActorKey; ada: ActorKey };
  let flooding: { tenant: Tenant; api: Api; eve: ActorKey; ada: ActorKey };

  beforeEach(async () => {
    opened = await open();
    const turns = fairTurns(UNOBSERVED);
    const tenant = await Tenant.create(opened.store);
    const other = await Tenant.create(opened.store, { policy });
    const api = new Api(tenant, { turns });
    steady = { tenant, api, olga: await tenant.human('olga'), ada: await tenant.agent('ada') };
    const theirs = new Api(other, { turns, vault: api.vault });
    flooding = { tenant: other, api: theirs, eve: await other.human('eve'), ada: await other.agent('ada') };
  });
  afterEach(() => opened.close());

  const floods: [string, () => Uint8Array][] = [
    ['bad signatures', () => forged()],
    ['good Commands', () => creation(flooding.tenant, flooding.eve, flooding.ada)],
  ];

  function creation(tenant: Tenant, owner: ActorKey, coordinator: ActorKey): Uint8Array {
    return tenant.sign(owner, Mission.draft(tenant, owner, coordinator).creation());
  }

  function forged(): Uint8Array {
    const { tenant, eve, ada } = flooding;
    return creation(tenant, { ...eve, signer: ada.signer }, ada);
  }

  it.each(floods)(
    `with ${FLOOD} %s of another tenant waiting, the next Command is served within their share of the turns`,
    { timeout: 120_000 },
    async (_, bytes) => {
      const { tenant, api, olga, ada } = steady;
      const { api: theirs, eve } = flooding;
      const command = () => api.submit(olga, creation(tenant, olga, ada));
      await theirs.tokenOf(eve);
      const sent = Array.from({ length: FLOOD }, bytes);
      expect((await command()).status).toBe(200); // it is there, as who works steadily is
      let answered = 0;
      const flood = sent.map((each) =>
        theirs.submit(eve, each).then(() => {
          answered += 1;
        }),
      );
      for (let time = 0; time < 5; time += 1) {
        const before = answered;
        expect((await command()).status).toBe(200);
        // One share that was in hand already, and as many again in each of the steps that it takes by turns.
        expect(answered - before).toBeLessThanOrEqual(3 * IN_HAND_OF_ONE_MAXIMUM);
      }
      expect(answered).toBeLessThan(FLOOD); // or there was nobody to be fair between
      await Promise.all(flood);
    },
  );
});
