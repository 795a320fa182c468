// The page that `man skerry` shows.
import type { Edition } from './stage.ts'

type Skerry = (...words: string[]) => Promise<string>

/** What the command line prints as its page; of one that prints none, its overview of all commands. */
export async function manualPage(skerry: Skerry, { version, date }: Edition): Promise<string> {
  const own = await skerry('help', '--man').catch(() => '')
  if (/^\.TH /m.test(own)) return own
  const day = date.toISOString().slice(0, 10)
  return [
    `.TH SKERRY 1 ${day} "skerry ${version}" "Skerry"`,
    '.SH NAME',
    'skerry \\- virtual machines on one host',
    '.SH SYNOPSIS',
    '.B skerry',
    'COMMAND [ARGUMENTS]',
    '.SH DESCRIPTION',
    'skerry asks the daemon vmd, which creates, clones, powers, snapshots and deletes virtual machines.',
    '.SH COMMANDS',
    '.nf',
    verbatim(await skerry('help')),
    '.fi',
    '',
  ].join('\n')
}

/** Text that roff leaves as it is. */
function verbatim(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1')
}
