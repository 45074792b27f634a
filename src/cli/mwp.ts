// The `mwp` command: finds the command, runs it, and turns what went wrong into a sentence and an exit code.
import { ConfigFault } from '../config.ts';
import { MasterKeyFault } from '../platform/master-key.ts';
import { StoreFault } from '../store/port.ts';
import { CommandFault, complain, DONE, FAILED, print, UsageFault, WRONG_USE, type CliCommand } from './command-line.ts';
import { sign, token } from './actor.ts';
import { backup } from './backup.ts';
import { conformance } from './conformance/command.ts';
import { exportCommand } from './export.ts';
import { keyGenerate, keyRegister, keyRevoke } from './key.ts';
import { orgCreate, orgList } from './org.ts';
import { scrub } from './scrub.ts';
import { migrate, serve } from './serve.ts';
import { verify } from './verify.ts';

const demo: CliCommand = {
  name: 'demo',
  summary: 'run two software missions against a real authority',
  help: '',
  run: async (args) => (await import('./demo/main.ts')).demoCommand(args),
};

const COMMANDS: readonly CliCommand[] = [
  serve,
  migrate,
  orgCreate,
  orgList,
  keyGenerate,
  keyRegister,
  keyRevoke,
  token,
  sign,
  backup,
  verify,
  exportCommand,
  scrub,
  conformance,
  demo,
];

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  mwp ${name.padEnd(width)}  ${summary}`);
  return `mwp: Group Authority for MissionWeaveProtocol 0.1\n\n${lines.join('\n')}\n\nmwp COMMAND --help tells more.`;
}

/** Answers the exit code; never rejects. */
export async function mwp(args: string[]): Promise<number> {
  return find(args).catch(exitCodeOf);
}

async function find(args: string[]): Promise<number> {
  const [first] = args;
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    print(overview());
    return first === undefined ? WRONG_USE : DONE;
  }
  const command = COMMANDS.find(({ name }) => args.slice(0, name.split(' ').length).join(' ') === name);
  if (!command) throw new UsageFault(`no such command: ${args.slice(0, 2).join(' ')}`);
  const rest = args.slice(command.name.split(' ').length);
  if (command.help !== '' && (rest.includes('--help') || rest.includes('-h'))) {
    print(command.help);
    return DONE;
  }
  return command.run(rest);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageFault) {
    complain(`mwp: ${error.message}\nTry mwp --help`);
    return WRONG_USE;
  }
  const isTold = [CommandFault, ConfigFault, MasterKeyFault, StoreFault].some((fault) => error instanceof fault);
  if (isTold) complain(`mwp: ${(error as Error).message}`);
  else complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return FAILED;
}
