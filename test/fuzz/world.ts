// Three Organizations: one where nothing may change, one that takes what is signed, one for the operator.
import { generateActorKey } from '../../src/worker/keys.ts';
import { executedCommandKinds } from '../../src/domain/commands/catalogue.ts';
import { newClientNonce } from '../../src/worker/challenge.ts';
import type { World } from './cases.ts';
import type { Host } from './host.ts';
import { playScene } from './scene.ts';
import { FuzzTenant } from './tenant.ts';
import { expiredToken } from './tokens.ts';

/** Principals that the operator registers again and again. */
const LAB_KEYS = 12;

export async function makeWorld(host: Host): Promise<World> {
  const [quiet, busy, lab] = [
    await FuzzTenant.create(host, 'quiet'),
    await FuzzTenant.create(host, 'busy'),
    await FuzzTenant.create(host, 'lab'),
  ];
  const quietScene = await playScene(quiet);
  // Members stay who they are, so that there is somebody to read and to speak.
  for (const { actor, draft, epochs } of quietScene.plans()) await quiet.accept(actor, draft, epochs);
  await quiet.tokenOf(quiet.service);
  await busy.tokenOf(busy.service);
  const played = new Set(quiet.accepted.map(({ kind }) => kind));
  const missing = executedCommandKinds().filter((kind) => !played.has(kind));
  if (missing.length > 0) throw new Error(`no Command of ${missing.join(', ')} to begin with`);
  const labKeys = Array.from({ length: LAB_KEYS }, (_, at) =>
    generateActorKey({ type: at % 2 === 0 ? 'agent' : 'human', id: `urn:fuzz:lab:${newClientNonce()}` }),
  );
  const busyScene = await playScene(busy);
  await quiet.putContent(quietScene.bob);
  await busy.putContent(busyScene.bob);
  return { host, quiet, quietScene, busy, busyScene, lab, labKeys, expiredToken: await expiredToken(quiet) };
}

/** A new cast and new Missions for what is signed; the old ones stay as they are. */
export async function nextScene(world: World): Promise<void> {
  const { olga, ada, bob } = world.busyScene;
  world.busy.forget([olga, ada, bob]);
  world.busyScene = await playScene(world.busy);
}
