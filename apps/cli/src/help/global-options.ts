import type { Options } from '@skerry/command-line'

import type { Command } from '../command.ts'

/** Global options, accepted by every command. */
export const everywhere = {
  on: {
    type: 'string',
    value: 'PROFILE',
    doc: 'target of the command: a profile of skerry profiles, or local (default: the active profile)',
  },
  json: { type: 'boolean', doc: 'print JSON instead of text' },
  url: {
    type: 'string',
    value: 'URL',
    doc: 'URL of vmd (default: http://127.0.0.1:8080)',
  },
  help: {
    type: 'boolean',
    doc: 'show help; with --json as JSON, including the schema of the output',
  },
} as const satisfies Options

/** Environment variables; main.ts reads them. */
export const environment: Readonly<Record<string, string>> = {
  SKERRY_URL: 'URL of vmd if --url is not given',
  SKERRY_PROFILE: 'profile if --on is not given',
  SKERRY_TOKEN: 'token for a vmd started with --token-file',
  BROWSER: 'browser for skerry console and skerry ui (default: xdg-open on a desktop)',
  SKERRY_WORKFLOW_SERVER: 'URL of the workflow server if --server is not given',
  SKERRY_WORKFLOW_USER: 'user of the workflow server, as USER@ORG, if --user is not given',
  SKERRY_WORKFLOW_PASSWORD: 'password of that user if --password-stdin is not given',
  SKERRY_WORKFLOW_CA: 'file of additional CA certificates if --ca is not given',
  XDG_CONFIG_HOME: 'directory of skerry/profiles.json (default: ~/.config)',
  NO_COLOR: 'disable colours on a terminal',
}

/** The options of a command, with the global ones that it accepts: a server parses its own, `skerry admin` uses no profile. */
export const optionsOf = ({ options, program }: Command): Options => {
  const { help, json } = everywhere
  if (program === 'server') return { ...options, help }
  return program === 'admin' ? { ...options, json, help } : { ...options, ...everywhere }
}
