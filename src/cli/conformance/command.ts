// `mwp conformance --bundle DIR`: prints what passed, what is of another revision, and what did not pass.

import { DONE, FAILED, print, readOptions, required, type CliCommand } from '../command-line.ts';

export const conformance: CliCommand = {
  name: 'conformance',
  summary: "check this build against the protocol's published bundles",
  help: `mwp conformance --bundle DIR

  --bundle DIR  a checkout of MissionWeaveProtocol/missionweaveprotocol, or any folder with its conformance/,
                cryptography/, admission/ and schemas/, itself or up to three folders down

Works offline. First every file is compared with the digests of its manifest; where one differs, is missing, not declared,
or leads out of DIR, one sentence says so and no case runs. Then the cases run, and one line a part tells how many came out
as published, as in "structural 58/58".

A bundle of another revision of the protocol is told by its counts and digests, and its cases run all the same; that alone
is no failure. The structural manifest states no digest. Its digest is made as the others spell theirs: the SHA-256 of the
canonical JSON list of path, byteLength and sha256, sorted by path, of the manifest, its documents and all schemas.

Exit code 0: every case of all three parts came out as published. 1: a case did not (it is named, with what was expected
and what was found), a part is missing, or the bundle contradicts its own manifests. 2: the command line is wrong.`,
  async run(args) {
    const folder = required(readOptions(args, { bundle: { type: 'string' } }).bundle, '--bundle');
    const { runConformance } = await import('./run.ts');
    const { lines, notices, failures } = await runConformance(folder);
    for (const line of [...lines, ...notices, ...failures]) print(line);
    return failures.length === 0 ? DONE : FAILED;
  },
};
