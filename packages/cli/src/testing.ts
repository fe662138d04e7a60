/** `carillon/testing`: a member in the process of a test, with a clock to turn. */
export {
  type Receive,
  startTestMember,
  type TestClock,
  type TestMember,
  type TestMemberOptions,
} from '@carillon/server/testing';
