import type { Options } from './command.ts'

/** Understood by every command. */
export const everywhere = {
  on: {
    type: 'string',
    value: 'PROFILE',
    doc: 'which place is asked: a cloud of skerry profiles, or local; the active one unless told',
  },
  json: { type: 'boolean', doc: 'print JSON instead of text' },
  url: {
    type: 'string',
    value: 'URL',
    doc: 'where vmd answers; http://127.0.0.1:8080 unless told',
  },
  help: {
    type: 'boolean',
    doc: 'print how the command is used; with --json as JSON, and the schema of its output',
  },
} as const satisfies Options

/** Read by main.ts and handed in. */
export const environment: Readonly<Record<string, string>> = {
  SKERRY_URL: 'the address of vmd when --url is left out',
  SKERRY_PROFILE: 'the profile when --on is left out',
  SKERRY_TOKEN: 'the word that a vmd with --token-file wants',
  BROWSER: 'what skerry console opens its page with; xdg-open on a desktop when it is not set',
  SKERRY_WORKFLOW_SERVER: 'the address of the workflow server when --server is left out',
  SKERRY_WORKFLOW_USER: 'who asks it, as USER@ORG, when --user is left out',
  SKERRY_WORKFLOW_PASSWORD: 'their password when --password-stdin is left out',
  SKERRY_WORKFLOW_CA: 'a file of certificates to trust when --ca is left out',
  XDG_CONFIG_HOME: 'where skerry/profiles.json lies; ~/.config unless told',
  NO_COLOR: 'no colours on a terminal either',
}
