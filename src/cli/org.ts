// `mwp org create` and `mwp org list`.
import { DONE, print, printJson, readOptions, required, type CliCommand } from './command-line.ts';
import { URL_OPTION, WHERE_HELP, withOperator } from './operator-connection.ts';

export const orgCreate: CliCommand = {
  name: 'org create',
  summary: 'make an Organization with its own service keys',
  help: `mwp org create --slug SLUG --name NAME [--id URI] [--url URL]

  --slug SLUG  1 to 63 of a-z, 0-9 and hyphen; stands in URLs and never changes
  --name NAME  for people
  --id URI     the Organization id; a fresh one when left out
${WHERE_HELP}

Prints the Organization and the public keys of its three services as JSON.`,

  async run(args) {
    const options = readOptions(args, {
      slug: { type: 'string' },
      name: { type: 'string' },
      id: { type: 'string' },
      ...URL_OPTION,
    });
    const body = {
      slug: required(options.slug, '--slug'),
      displayName: required(options.name, '--name'),
      ...(options.id !== undefined && { organizationId: options.id }),
    };
    printJson(await withOperator(options.url, (operator) => operator.call('POST', '/organizations', body)));
    return DONE;
  },
};

export const orgList: CliCommand = {
  name: 'org list',
  summary: 'list the Organizations, one a line',
  help: `mwp org list [--url URL]

${WHERE_HELP}

Prints slug, Organization id and name, separated by tabs.`,

  async run(args) {
    const { url } = readOptions(args, URL_OPTION);
    await withOperator(url, async (operator) => {
      for (let after = ''; ;) {
        const page = (await operator.call('GET', `/organizations?limit=200${after}`)) as OrganizationPage;
        for (const row of page.items) print([row.slug, row.organizationId, row.displayName].join('\t'));
        if (page.next === undefined) return;
        after = `&after=${encodeURIComponent(page.next)}`;
      }
    });
    return DONE;
  },
};

interface OrganizationPage {
  items: { slug: string; organizationId: string; displayName: string }[];
  next?: string;
}
