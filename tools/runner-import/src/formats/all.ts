/** The formats by their names, as they are typed. */
import { capistrano } from './capistrano.ts';
import { compose } from './compose.ts';
import { crontab } from './crontab.ts';
import { kamal } from './kamal.ts';
import { pm2 } from './pm2.ts';
import { procfile } from './procfile.ts';
import { unit } from './unit.ts';
import { whenever } from './whenever.ts';

export const FORMATS = {
  pm2,
  procfile,
  kamal,
  capistrano,
  compose,
  unit,
  crontab,
  whenever,
};
export type FormatName = keyof typeof FORMATS;
