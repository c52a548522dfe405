/** `runner-audit emit` by itself: pipelines start it for every event. Most events need no redactor. */
import { program } from '@runner/common/cli/program';
import { ABOUT } from '../about.ts';
import { emit } from '../commands/emit.ts';

program({ ...ABOUT, commands: [emit] }, async () => {
  const { redactorOfShapes } = await import('@runner/common/redaction/redact');
  return redactorOfShapes();
});
