// What every command of `mwp` shares: how its arguments are read, how it answers, and what its exit codes mean.
import { parseArgs, type ParseArgsConfig } from 'node:util';

export const DONE = 0;
export const FAILED = 1;
/** The command line itself is wrong. */
export const WRONG_USE = 2;

export interface CliCommand {
  /** One or two words: `serve`, `org create`. */
  name: string;
  /** One line for the overview. */
  summary: string;
  /** What `--help` prints. */
  help: string;
  /** Answers the exit code. */
  run: (args: string[]) => Promise<number>;
}

/** Told on standard error with a hint at --help; exit code 2. */
export class UsageFault extends Error {}

/** Told on standard error as it is; exit code 1. */
export class CommandFault extends Error {}

/** 32 bytes as base64url. */
const KEY_LIKE_AN_OPTION = /^-[A-Za-z0-9_-]{42}$/;
const OPTION = /^--[a-z][a-z-]*$/;

type OptionTable = NonNullable<ParseArgsConfig['options']>;
/** By option: a string, or true for a flag; absent when not given. */
export type Options<Table extends OptionTable> = {
  [Name in keyof Table]?: Table[Name]['type'] extends 'boolean' ? boolean : string;
};

export function readOptions<const Table extends OptionTable>(args: string[], options: Table): Options<Table> {
  try {
    return parseArgs({ args: withKeysJoined(args), options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

/** One public key in 64 begins with a hyphen, which `parseArgs` takes for an option unless it stands in one word with its own. */
function withKeysJoined(args: string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const option = joined.at(-1);
    if (KEY_LIKE_AN_OPTION.test(arg) && option !== undefined && OPTION.test(option)) {
      joined[joined.length - 1] = `${option}=${arg}`;
    } else joined.push(arg);
  }
  return joined;
}

export function required(value: string | undefined, option: string): string {
  if (value === undefined || value === '') throw new UsageFault(`${option} is missing`);
  return value;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}
