// The table of commands as a man page, in the macros of man(7) that groff and mandoc both know.
import type { Command } from './command.ts'
import { environment, everywhere } from './everywhere.ts'
import { exitRows, optionRows, optionsOf } from './help.ts'

const about = [
  'skerry makes and runs virtual machines on this machine. It is a client of vmd, the daemon that owns libvirt here, and it',
  'starts that daemon: "skerry vmd" as root in one terminal, everything else in another. vmd answers to programs of root,',
  'of the user who started it by sudo and of the group skerry.',
].join(' ')

const aboutClouds = [
  'With a profile it does the same with the VMs of a cloud: "skerry login" makes one and makes it the active one, "--on" chooses for one',
  'command, and "local" is this machine. What a cloud has beyond VMs has commands of its own: org, vdc, catalog, vapp, task, event,',
  'user, host, quota.',
].join(' ')

const firstSteps = [
  'sudo skerry vmd',
  'sudo skerry template build',
  'skerry create my-vm --ssh-key ~/.ssh/id_ed25519.pub --start',
  'skerry ssh my-vm',
]

const files: readonly (readonly [string, string])[] = [
  ['/var/lib/skerry', 'VMs, their disks, templates, and the journal of events'],
  ['/var/lib/skerry/site', 'the cloud that skerry up made'],
  ['/run/skerry', 'sockets of guests that run'],
  ['~/.config/skerry/profiles.json', 'clouds that you are logged in to, with tokens; yours alone'],
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
    prose('From nothing to a shell in a VM:'),
    ...listing(firstSteps),
    '.SH OPTIONS',
    'Every command but vmd takes these.',
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
    prose('vmd shows all of its operations at http://127.0.0.1:8080/.'),
  ].join('\n')
}

function section(command: Command): readonly string[] {
  const { name, usage, summary, options, examples, next, exits } = command
  const own = optionRows(name === 'vmd' ? optionsOf(command) : options)
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

/** Lines that a person can read in the source too, which mandoc asks for. */
const prose = (words: string): string => text(words.replace(/(.{50}\S*) /g, '$1\n'))

/** A name and its meaning beside it. */
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

/** Nothing in a text is a command: a backslash starts one, and so do a dot and a quote at the beginning of a line. */
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
