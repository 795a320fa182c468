// Renders the command table as a man page, with man(7) macros that both groff and mandoc support.
import type { Command } from '../command.ts'
import { environment, everywhere, optionsOf } from './global-options.ts'
import { exitRows, optionRows } from './help.ts'

const about = [
  'skerry creates and runs virtual machines on this machine. It is a client of vmd, the daemon that manages libvirt,',
  'and it can start that daemon: run "skerry vmd" as root in one terminal and all other commands in another. vmd accepts',
  'requests from root, from the user who started it with sudo, and from members of the group skerry.',
].join(' ')

const aboutClouds = [
  'With a profile the same commands work on the VMs of a cloud. "skerry login" creates a profile and makes it the active one; "--on"',
  'selects a profile for one command; the profile "local" is this machine. Other cloud resources have their own commands: org, vdc,',
  'catalog, vapp, task, event, user, host, quota. "skerry admin" is for operators: it runs on the machine of a cell, uses its database',
  'and keys, and bypasses the API.',
].join(' ')

const firstSteps = [
  'sudo skerry vmd',
  'sudo skerry template build',
  'skerry create my-vm --ssh-key ~/.ssh/id_ed25519.pub --start',
  'skerry ssh my-vm',
]

const files: readonly (readonly [string, string])[] = [
  ['/var/lib/skerry', 'VMs with their disks, templates, and the event journal'],
  ['/var/lib/skerry/site', 'the cloud created by skerry up'],
  ['/run/skerry', 'sockets of running guests'],
  [
    '~/.config/skerry/profiles.json',
    'profiles of the clouds you are logged in to, with their tokens; mode 0600',
  ],
]

/** The page skerry(1). */
export function manPage(commands: readonly Command[], version: string, day: Date): string {
  const [date] = day.toISOString().split('T')
  return [
    `.TH SKERRY 1 "${date}" "Skerry ${version}" "User Commands"`,
    '.SH NAME',
    'skerry \\- virtual machines on this machine and in clouds',
    '.SH SYNOPSIS',
    '.B skerry',
    '.I COMMAND',
    '[options]',
    '.br',
    '.B skerry',
    '.I COMMAND',
    '.B \\-\\-help',
    '.SH DESCRIPTION',
    prose(about),
    '.PP',
    prose(aboutClouds),
    '.PP',
    prose('First steps, from installation to a shell in a VM:'),
    ...listing(firstSteps),
    '.SH OPTIONS',
    prose(
      'All commands accept these options, except servers, which accept only --help, and skerry admin, which has no profile.',
    ),
    ...rows(optionRows(everywhere)),
    '.SH COMMANDS',
    ...commands.flatMap(section),
    '.SH EXIT STATUS',
    ...rows(exitRows),
    '.SH ENVIRONMENT',
    ...rows(Object.entries(environment)),
    '.SH FILES',
    ...rows(files),
    '.SH SEE ALSO',
    '.BR ssh (1),',
    '.BR virsh (1),',
    '.BR qemu\\-img (1)',
    '.PP',
    prose('vmd documents its API at http://127.0.0.1:8080/.'),
  ].join('\n')
}

function section(command: Command): readonly string[] {
  const { name, usage, summary, options, examples, next, exits, program } = command
  const own = optionRows(program === undefined ? options : optionsOf(command))
  return [
    `.SS ${text(`skerry ${name}`)}${usage === '' ? '' : ` \\fI${text(usage)}\\fP`}`,
    prose(sentence(summary)),
    ...rows(own),
    ...(exits === undefined ? [] : ['.PP', prose(sentence(`Exit status: ${exits}`))]),
    ...listing(examples),
    '.PP',
    prose(sentence(`Next: ${next}`)),
  ]
}

const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`

/** Breaks long lines in the source, as mandoc -T lint requires. */
const prose = (words: string): string => text(words.replace(/(.{50}\S*) /g, '$1\n'))

/** Tagged paragraphs: a name and its description. */
const rows = (all: readonly (readonly [string, string])[]): readonly string[] =>
  all.flatMap(([left, right]) => ['.TP', `\\fB${text(left)}\\fP`, prose(right)])

const listing = (lines: readonly string[]): readonly string[] => [
  '.PP',
  '.RS 4',
  '.nf',
  ...lines.map(text),
  '.fi',
  '.RE',
]

/** Escapes roff: a backslash starts a request, and so does a dot or a quote at the beginning of a line. */
export const text = (words: string): string =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('`', '\\(ga')
    .replaceAll('’', "'")
    .replaceAll("'", '\\(aq')
    .replaceAll('"', '\\(dq')
    .replace(/^\./gm, '\\&.')
