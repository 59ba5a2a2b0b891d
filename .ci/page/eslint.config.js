const js = require("@eslint/js");
const globals = require("globals");

// the files are one script: names that a file defines are for the others too, which the TypeScript compiler checks
module.exports = [
  { files: ["**/*.js"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: "script", globals: globals.browser },
    rules: { "no-undef": "off", "no-unused-vars": ["error", { vars: "local" }], eqeqeq: "error", "no-implied-eval": "error" },
  },
  {
    rules: {
      "no-restricted-properties": ["error", ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map(property => ({
        property,
        message: "text of strangers is text: use textContent",
      }))],
    },
  },
];
