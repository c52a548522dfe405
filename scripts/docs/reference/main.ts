/**
 * What is made from the definitions of the commands and the schemas of the files when the executables
 * are built: manual pages, completions, JSON Schemas and docs/commands.md. Nothing is kept twice.
 */
import { CONFIG_SCHEMA } from '@runner/common/config/schema';
import { DEPLOY_SCHEMA } from '@runner/common/deploy-file/schema';
import { tools } from './collect.ts';
import { commandsPage, type Notes } from './commands-page.ts';
import { completionFiles, type Templates } from './completion.ts';
import { configJsonSchema, deployJsonSchema } from './json-schema.ts';
import { auditLogPage, configPage, deployFilePage } from './pages.ts';
import { runnerPage } from './runner-page.ts';
import { shimHelp } from './shim.ts';
import { toolPage } from './tool-page.ts';

/** A file relative to dist, and its text. */
export type ReferenceFile = readonly [file: string, text: string];

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** What stands in no definition. */
export interface Facts {
  readonly version: string;
  /** Source of the shim. */
  readonly shim: string;
  readonly templates: Templates;
  readonly notes: Notes;
}

/**
 * Everything that is made; called by scripts/docs/reference.mjs.
 * @public
 */
export function referenceFiles({ version, shim, templates, notes }: Facts): ReferenceFile[] {
  const help = shimHelp(shim);
  const sections5 = ['runner-config(5)', 'runner-deploy.yml(5)', 'runner-audit-log(5)'];
  const seen = [...tools.map(({ name }) => `${name}(1)`), ...sections5];
  const man = 'share/man';
  const schemas = 'share/runner/schemas';
  return [
    [`${man}/man1/runner.1`, runnerPage(help, tools, version, seen)],
    ...tools.map((tool): ReferenceFile => {
      const others = tool.name === 'runner-audit' ? ['runner-audit-log(5)'] : [];
      return [`${man}/man1/${tool.name}.1`, toolPage(tool, version, others)];
    }),
    [`${man}/man5/runner-config.5`, configPage(version)],
    [`${man}/man5/runner-deploy.yml.5`, deployFilePage(version)],
    [`${man}/man5/runner-audit-log.5`, auditLogPage(version)],
    [`${schemas}/config.schema.json`, json(configJsonSchema(CONFIG_SCHEMA))],
    [`${schemas}/deploy.schema.json`, json(deployJsonSchema(DEPLOY_SCHEMA))],
    ['share/doc/runner/commands.md', commandsPage(tools, notes)],
    ...completionFiles(help, tools, templates),
  ];
}
