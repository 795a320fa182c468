// A realm that brokers a SAML server: docs/guides/identity.md says the same for an administrator. The SAML server is another realm.
import type { Realm } from './keycloak-realm.ts'

const ALIAS = 'campus'
const RSA = 'RSA_SHA256'
/** What the SAML server says of a person besides the groups, each under its own name. */
const PROPERTIES = ['username', 'email', 'firstName', 'lastName'] as const
const GROUPS = ['cloud-admins', 'developers'] as const

/** Where the SAML server sends its answers. */
export const answersTo = (bridge: Realm): string => `${bridge.issuer}/broker/${ALIAS}/endpoint`

export async function bridgeSaml(bridge: Realm, saml: Realm): Promise<void> {
  await registerBridge(bridge, saml)
  await addServer(bridge, saml)
  await addMappers(bridge)
  await skipOwnPage(bridge)
}

/** At the SAML server: the bridge, the attributes of people that it gets, and that both sides sign. */
async function registerBridge(bridge: Realm, saml: Realm): Promise<void> {
  await saml.administer('POST', 'clients', {
    clientId: bridge.issuer,
    protocol: 'saml',
    redirectUris: [answersTo(bridge)],
    attributes: {
      saml_assertion_consumer_url_post: answersTo(bridge),
      saml_name_id_format: 'persistent',
      'saml.assertion.signature': 'true',
      'saml.server.signature': 'true',
      'saml.client.signature': 'true',
      'saml.force.post.binding': 'true',
      'saml.signature.algorithm': RSA,
      'saml.signing.certificate': await certificateOf(bridge),
    },
    protocolMappers: [
      {
        name: 'groups',
        protocol: 'saml',
        protocolMapper: 'saml-group-membership-mapper',
        config: { 'attribute.name': 'groups', single: 'true', 'full.path': 'false' },
      },
      ...PROPERTIES.map((property) => ({
        name: property,
        protocol: 'saml',
        protocolMapper: 'saml-user-property-mapper',
        config: { 'attribute.name': property, 'user.attribute': property },
      })),
    ],
  })
}

/** At the bridge: the SAML server, as the import of its metadata enters it. */
async function addServer(bridge: Realm, saml: Realm): Promise<void> {
  await bridge.administer('POST', 'identity-provider/instances', {
    alias: ALIAS,
    providerId: 'saml',
    enabled: true,
    trustEmail: true,
    firstBrokerLoginFlowAlias: 'first broker login',
    config: {
      entityId: bridge.issuer,
      idpEntityId: saml.issuer,
      singleSignOnServiceUrl: `${saml.issuer}/protocol/saml`,
      signingCertificate: await certificateOf(saml),
      validateSignature: 'true',
      wantAssertionsSigned: 'true',
      wantAuthnRequestsSigned: 'true',
      signatureAlgorithm: RSA,
      postBindingAuthnRequest: 'true',
      postBindingResponse: 'true',
      nameIDPolicyFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      principalType: 'SUBJECT',
      syncMode: 'FORCE',
    },
  })
}

/** What the bridge makes of the attributes, at each login. */
async function addMappers(bridge: Realm): Promise<void> {
  const add = (name: string, mapper: string, config: Readonly<Record<string, string>>) =>
    bridge.administer('POST', `identity-provider/instances/${ALIAS}/mappers`, {
      name,
      identityProviderAlias: ALIAS,
      identityProviderMapper: mapper,
      config: { syncMode: 'FORCE', ...config },
    })
  await add('username', 'saml-username-idp-mapper', {
    template: '${ATTRIBUTE.username}',
    target: 'LOCAL',
  })
  for (const property of ['email', 'firstName', 'lastName']) {
    await add(property, 'saml-user-attribute-idp-mapper', {
      'attribute.name': property,
      'user.attribute': property,
    })
  }
  for (const group of GROUPS) {
    await add(group, 'saml-advanced-group-idp-mapper', {
      attributes: JSON.stringify([{ key: 'groups', value: group }]),
      'are.attribute.values.regex': 'false',
      group: `/${group}`,
    })
  }
}

/** People see the page of the SAML server at once. */
async function skipOwnPage(bridge: Realm): Promise<void> {
  const executions = await bridge.administer<
    readonly { readonly id: string; readonly providerId?: string }[]
  >('GET', 'authentication/flows/browser/executions')
  const redirector = executions.find(
    ({ providerId }) => providerId === 'identity-provider-redirector',
  )
  await bridge.administer('POST', `authentication/executions/${redirector?.id}/config`, {
    alias: ALIAS,
    config: { defaultProvider: ALIAS },
  })
}

interface Keys {
  readonly active: Readonly<Record<string, string>>
  readonly keys: readonly { readonly kid: string; readonly certificate?: string }[]
}

/** The certificate with which a realm signs. */
async function certificateOf(realm: Realm): Promise<string> {
  const { active, keys } = await realm.administer<Keys>('GET', 'keys')
  const found = keys.find(({ kid }) => kid === active['RS256'])?.certificate
  if (found === undefined) throw new Error(`${realm.issuer} signs with no certificate`)
  return found
}
