export const NAME_ORG = 'set local app.org = '

/**
 * The statement that names the organisation of a transaction. Local: the setting ends with the transaction; a plain SET would stay for
 * the next user of the connection. Without a parameter, so that it can be sent in one message with `begin`.
 */
export function nameOrg(org: string): string {
  if (!/^[\w-]+$/.test(org)) throw new TypeError(`not an id of an organisation: ${org}`)
  return `${NAME_ORG}'${org}'`
}
