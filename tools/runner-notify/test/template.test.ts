import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fillTemplate,
  parseTemplate,
  type Slot,
  VARIABLES,
  type Values,
} from '../src/message/template.ts';

const VALUES: Values = {
  PROJECT: 'shop',
  VERSION: 'v1.2.3',
  INSTANCE: 'prod-1',
  PREVIOUS_VERSION: 'v1.2.2',
  DURATION: '12 s',
  ERROR: '${DOMAIN} $& $1 `x`',
  DOMAIN: '',
  CHANGES: 'Fix the cart',
  AUTHOR: 'Ada',
};
const shown = (value: string, slot: Slot) => `<${slot}:${value}>`;
const fill = (template: string, codeEscapes = true) =>
  fillTemplate(parseTemplate(template, codeEscapes), VALUES, shown);

const FILLED: readonly (readonly [template: string, text: string])[] = [
  ['', ''],
  ['plain $ text { } $', 'plain $ text { } $'],
  ['${PROJECT}${VERSION}', '<text:shop><text:v1.2.3>'],
  ['a `${INSTANCE}` b ${INSTANCE}', 'a `<code:prod-1>` b <text:prod-1>'],
  ['```\n${ERROR}\n``` ${VERSION}', '```\n<pre:${DOMAIN} $& $1 `x`>\n``` <text:v1.2.3>'],
  ['```${VERSION}```', '```\n<pre:v1.2.3>```'],
  ['```sh\n`${VERSION}`\n```', '```sh\n`<pre:v1.2.3>`\n```'],
  ['[x](https://${PROJECT}/) ${VERSION}', '[x](https://<link:shop>/) <text:v1.2.3>'],
  ['\\`${VERSION}', '\\`<text:v1.2.3>'],
  ['`\\`${VERSION}`', '`\\`<code:v1.2.3>`'],
  ['\\', '\\'],
  ['on ${DOMAIN}.', 'on <text:–>.'],
  ['$${PROJECT}', '$\\{PROJECT}'],
  ['`$${PROJECT}`', '`${PROJECT}`'],
  ['$$${PROJECT}', '$$\\{PROJECT}'],
];

for (const [template, text] of FILLED) {
  test(`${JSON.stringify(template)} becomes ${JSON.stringify(text)}`, () => {
    assert.is(fill(template), text);
  });
}

test('where code knows no escapes, a backslash before a back-tick does not keep the code open', () => {
  assert.is(fill('`\\`${VERSION}', false), '`\\`<text:v1.2.3>');
});

const WRONG: readonly (readonly [template: string, what: string])[] = [
  ['${NAME}', 'the unknown variable ${NAME}'],
  ['${project}', 'the unknown variable ${project}'],
  ['${}', 'the unknown variable ${}'],
  ['${PROJECT', 'a ${ without a name'],
  ['${PRO JECT}', 'a ${ without a name'],
  ['${__proto__}', 'the unknown variable ${__proto__}'],
  [`\${${'X'.repeat(500)}}`, 'a ${ without a name'],
];

for (const [template, what] of WRONG) {
  test(`${template.slice(0, 40)} is refused: ${what}`, () => {
    assert.throws(
      () => parseTemplate(template, true),
      (error: { code: string; message: string }) =>
        error.code === 'config_invalid' &&
        error.message === `the template has ${what} (known: ${VARIABLES.join(', ')})`,
    );
  });
}

test('whatever stands in a value arrives as it is and is never looked at again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...VARIABLES), (value, name) => {
      const pieces = parseTemplate(`a \${${name}} b`, true);
      const filled = fillTemplate(pieces, { ...VALUES, [name]: value }, (text) => text);
      assert.is(filled, `a ${value || '–'} b`);
    }),
  );
});

test('a value in an address between angle brackets is escaped as one, but not for Telegram', () => {
  const template =
    '<https://e.org/${VERSION}|${VERSION}> <https://e.org/${VERSION}> ${VERSION} <${VERSION}';
  const version = (slot: Slot) => `<${slot}:v1.2.3>`;
  const links = `<https://e.org/${version('link')}|${version('text')}> <https://e.org/${version('link')}>`;
  assert.is(fill(template, false), `${links} ${version('text')} <${version('text')}`);
  assert.not.match(fill(template), '<link:');
});

test.run();
