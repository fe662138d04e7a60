/** One Carillon member: the public surface of this package. */
export { tokensFileOf } from './access/open-access.ts';
export { unknownSentence } from './api/unknown-members.ts';
export { anyNamespace, defaultNamespace, isNamespace, namespaceRule } from './config/namespace.ts';
export { type Scope, scopeNamed, scopes } from './access/scope.ts';
export { StartError } from './access/start-rule.ts';
export { newNumberKey, numberingOf } from './access/number-key.ts';
export { newToken, type Token, tokenDigest } from './access/token.ts';
export {
  isTokenName,
  parseTokens,
  renderTokens,
  tokenNameRule,
  type TokensFile,
  TokensFileError,
  tokensMax,
} from './access/tokens-file.ts';
export { type Config, defaultConfig, eachOption } from './config/config.ts';
export {
  type ConfigEntry,
  flagOf,
  type LoadedConfig,
  loadConfig,
  variableOf,
} from './config/load.ts';
export { parseYaml, type YamlOptions } from './config/yaml.ts';
export { MembersFileError, parseMembers } from './cluster/sources/members-file.ts';
export { release } from './start/release.ts';
export { type RunningMember, type StartOptions, startMember } from './start/start-member.ts';
