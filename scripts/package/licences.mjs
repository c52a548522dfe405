import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from '../tasks/checkout.mjs';

/** The licences of the packages that are bundled, in full. Throws when one comes without. */
export function thirdPartyText(packages) {
  const parts = packages.map(({ name, version, license, folder }) => {
    const names = readdirSync(join(checkout, folder)).filter((file) => /^licen[cs]e/i.test(file));
    if (names.length === 0)
      throw new Error(`${name} ${version} comes without the text of a licence`);
    const texts = names.sort().map((file) => readFileSync(join(checkout, folder, file), 'utf8'));
    return `${name} ${version} (${license})\n\n${texts.join('\n').trim()}\n`;
  });
  const line = `${'-'.repeat(78)}\n\n`;
  return `The executables of runner contain code of these packages.\n\n${line}${parts.join(`\n${line}`)}`;
}
