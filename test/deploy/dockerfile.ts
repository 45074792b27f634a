// A Dockerfile as the steps of its stages, and those steps done in plain folders: for machines without a container engine.
// Knows the instructions that ours has, and stops at any other.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Step {
  instruction: string;
  text: string;
}

export interface Image {
  /** Where its root stands here. */
  root: string;
  workdir: string;
  environment: Record<string, string>;
  user: string;
  entrypoint: string[];
  command: string[];
  healthcheck: string[];
}

export interface Builder {
  /** The folder that is built from; only what `.dockerignore` lets in is seen. */
  context: string;
  /** Every stage gets a folder below it. */
  folder: string;
  /** Who runs the steps. */
  as: { uid?: number; gid?: number };
  environment: Record<string, string>;
}

export function parseDockerfile(text: string): Step[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [, instruction, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (instruction === undefined || rest === undefined) throw new Error(`not an instruction: ${line}`);
    return { instruction, text: rest };
  });
}

/** The last stage. */
export function build(steps: Step[], builder: Builder): Image {
  const stages = new Map<string, Image>();
  let image: Image | undefined;
  for (const { instruction, text } of steps) {
    if (instruction === 'FROM') {
      const name = / AS (\w+)$/.exec(text)?.[1] ?? 'last';
      image = newImage(join(builder.folder, name), builder);
      stages.set(name, image);
    } else if (instruction !== 'ARG') {
      if (!image) throw new Error(`${instruction} before FROM`);
      apply(instruction, text, image, stages, builder);
    }
  }
  if (!image) throw new Error('no FROM');
  return image;
}

function newImage(root: string, builder: Builder): Image {
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  give(root, builder);
  return { root, workdir: '/', environment: {}, user: '', entrypoint: [], command: [], healthcheck: [] };
}

function apply(instruction: string, text: string, image: Image, stages: Map<string, Image>, builder: Builder): void {
  switch (instruction) {
    case 'WORKDIR':
      image.workdir = text;
      mkdirSync(join(image.root, text), { recursive: true });
      return give(image.root, builder);
    case 'COPY':
      return copy(text, image, stages, builder);
    case 'RUN':
      return run(text, image, builder);
    case 'ENV':
      for (const [, name, value] of text.matchAll(/(\w+)=(\S+)/g)) image.environment[name ?? ''] = value ?? '';
      return;
    case 'USER':
      image.user = text;
      return;
    case 'ENTRYPOINT':
      image.entrypoint = JSON.parse(text) as string[];
      return;
    case 'CMD':
      image.command = JSON.parse(text) as string[];
      return;
    case 'HEALTHCHECK':
      image.healthcheck = JSON.parse(text.slice(text.indexOf('['))) as string[];
      return;
    case 'LABEL':
    case 'EXPOSE':
    case 'STOPSIGNAL':
      return;
    default:
      throw new Error(`unknown instruction ${instruction}`);
  }
}

/** What we made belongs to who runs the steps. */
function give(path: string, { as }: Builder): void {
  if (as.uid !== undefined) execFileSync('chown', ['-R', `${as.uid}:${as.gid}`, path]);
}

function copy(text: string, image: Image, stages: Map<string, Image>, builder: Builder): void {
  const [, stage, files = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(text) ?? [];
  const paths = files.split(/\s+/);
  const target = join(image.root, image.workdir, paths.pop() ?? '');
  for (const path of paths) {
    const source = stage === undefined ? allowed(builder.context, path) : join(stages.get(stage)?.root ?? '', path);
    const isFolder = paths.length === 1 && !/\/$/.test(files);
    const here = isFolder ? target : join(target, basename(path));
    cpSync(source, here, { recursive: true, verbatimSymlinks: true });
    give(here, builder);
  }
}

/** `.dockerignore` begins with everything, and names what is let in. */
function allowed(context: string, path: string): string {
  const lines = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n');
  if (!lines.includes('*') || !lines.includes(`!${path}`)) throw new Error(`.dockerignore keeps ${path} out`);
  if (!existsSync(join(context, path))) throw new Error(`there is no ${path}`);
  return join(context, path);
}

/** The image's folders are the stage's here. */
export function here(text: string, { root }: Image): string {
  return text.replaceAll(/(?<![\w./])\/(app|data|usr\/local\/bin)\b/g, (path) => join(root, path));
}

function run(text: string, image: Image, { as, environment }: Builder): void {
  const options = { ...as, cwd: join(image.root, image.workdir), env: { ...environment, ...image.environment } };
  execFileSync('sh', ['-c', here(text, image)], { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
}
