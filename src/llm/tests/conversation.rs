//! What goes out and what comes back over the wire: parameters, downgrades, tools, documents, money.

use podium_types::chat::{
    ChatError, ChatRequest, FinishReason, Message, OutputSchema, Speaker, Tool, ToolCall, ToolChoice,
};
use podium_types::money::Usd;
use serde_json::{Value, json};

use super::server::{Act, Server, delta, error, response, says, stream, usage};
use super::setup::{KEY, Record, chat, client, request, settings};
use crate::{CallEvent, Error, Settled};

fn review() -> OutputSchema {
    let schema = json!({
        "type": "object",
        "properties": {"is_bug": {"type": "boolean"}},
        "required": ["is_bug"],
        "additionalProperties": false,
    });
    OutputSchema { name: "review".into(), schema, strict: true }
}

#[tokio::test]
async fn a_request_goes_out_in_the_protocols_words() {
    let server = Server::start(vec![says("fine")]).await;
    let mut turn = Message::text(Speaker::Assistant, "");
    turn.provider_state = Some(Box::new(json!("another provider's")));
    turn.tool_calls = vec![ToolCall { id: "a".into(), name: "ls".into(), arguments: "{}".into() }];
    let mut result = Message::text(Speaker::Tool, "train.csv");
    result.tool_call_id = Some("a".into());
    let request = ChatRequest {
        messages: vec![Message::text(Speaker::System, "be brief"), turn, result],
        tools: vec![Tool {
            name: "ls".into(),
            description: "list".into(),
            parameters: json!({"type": "object"}),
        }],
        output: Some(review()),
        stop: vec!["END".into()],
        temperature: Some(0.5),
        seed: Some(u64::MAX),
        effort: Some(podium_types::chat::Effort::Low),
        max_output_tokens: None,
        tool_choice: ToolChoice::Required,
        one_tool_call: true,
        top_logprobs: Some(2),
    };
    let _ = chat(&client(settings(&server)), &server, &Record::default(), "any", &request).await;
    let call = json!({"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}});
    let expected = json!({
        "model": "any",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "content": "train.csv", "tool_call_id": "a"},
        ],
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 4096,
        "temperature": 0.5,
        "seed": 0x7FFF_FFFF,
        "stop": ["END"],
        "reasoning_effort": "low",
        "tool_choice": "required",
        "parallel_tool_calls": false,
        "logprobs": true,
        "top_logprobs": 2,
        "tools": [{"type": "function", "function":
            {"name": "ls", "description": "list", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_schema", "json_schema":
            {"name": "review", "schema": review().schema, "strict": true}},
    });
    assert_eq!(server.bodies()[0], expected);
    let head = &server.heads()[0];
    assert!(
        head.starts_with("post /v1/chat/completions ")
            && head.contains(&format!("authorization: bearer {KEY}"))
    );
}

#[tokio::test]
async fn without_a_key_no_authorization_is_sent() {
    let server = Server::start(vec![says("fine")]).await;
    let mut settings = settings(&server);
    settings.endpoints.get_mut("openai").unwrap().key = None;
    chat(&client(settings), &server, &Record::default(), "any", &request()).await.unwrap();
    assert!(!server.heads()[0].contains("authorization"));
}

#[tokio::test]
async fn refused_parameters_are_left_out_once_and_for_all() {
    let complaint = |message: &str| error(400, "", &json!({"message": message, "code": "unsupported_value"}));
    let server = Server::start(vec![
        complaint("Unsupported value: 'temperature' does not support 0.5 with this model."),
        complaint("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        says("fine"),
    ])
    .await;
    let request = ChatRequest { temperature: Some(0.5), ..request() };
    let client = client(settings(&server));
    let record = Record::default();
    assert_eq!(chat(&client, &server, &record, "any", &request).await.unwrap().content, "fine");
    let downgrades = record.events.lock().unwrap().clone();
    let downgrades: Vec<_> =
        downgrades.into_iter().filter(|event| matches!(event, CallEvent::Downgraded { .. })).collect();
    let named = |parameter: &str| CallEvent::Downgraded { parameter: parameter.into() };
    assert_eq!(downgrades, [named("temperature"), named("output_limit_name")]);
    chat(&client, &server, &Record::default(), "any", &request).await.unwrap();
    assert_eq!(server.bodies().len(), 4);
    for body in &server.bodies()[2..] {
        assert_eq!((body.get("temperature"), body.get("max_tokens")), (None, None));
        assert_eq!(body["max_completion_tokens"], 4096);
    }
    // Another model is not touched.
    chat(&client, &server, &Record::default(), "other", &request).await.unwrap();
    assert_eq!(server.bodies()[4]["temperature"], 0.5);
}

#[tokio::test]
async fn a_complaint_about_what_was_not_sent_is_final() {
    let server = Server::start(vec![error(400, "", &json!({"message": "tools are not supported"}))]).await;
    let failure = chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await;
    assert_eq!(
        failure,
        Err(Error::Request(ChatError::Refused { message: "tools are not supported".into() }))
    );
}

#[tokio::test]
async fn tool_arguments_come_in_pieces() {
    let piece = |index: u64, call: Value| {
        let mut call = call;
        call["index"] = json!(index);
        delta(&json!({"tool_calls": [call]}), None)
    };
    let server = Server::start(vec![stream(&[
        piece(0, json!({"id": "a", "type": "function", "function": {"name": "bash", "arguments": ""}})),
        piece(0, json!({"function": {"arguments": "{\"comm"}})),
        piece(0, json!({"function": {"arguments": "and\": \"ls\"}"}})),
        piece(1, json!({"id": "b", "function": {"name": "done", "arguments": "not json"}})),
        delta(&json!({}), Some("tool_calls")),
        usage(20, 9),
    ])])
    .await;
    let answer =
        chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await.unwrap();
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    };
    assert_eq!(answer.tool_calls, [call("a", "bash", r#"{"command": "ls"}"#), call("b", "done", "not json")]);
    assert_eq!((answer.finish, answer.model.as_str()), (FinishReason::ToolCalls, "served-model"));
}

#[tokio::test]
async fn an_unfit_document_is_repaired_once() {
    let server =
        Server::start(vec![says("It is fine, I think."), says("```json\n{\"is_bug\": false}\n```")]).await;
    let request = ChatRequest { output: Some(review()), ..request() };
    let record = Record::default();
    let answer = chat(&client(settings(&server)), &server, &record, "no-schema", &request).await.unwrap();
    assert_eq!(answer.document, Some(json!({"is_bug": false})));
    assert_eq!(answer.usage.total_tokens(), 30, "both turns are counted");
    let bodies = server.bodies();
    assert_eq!(bodies[0].get("response_format"), None);
    assert!(bodies[0]["messages"][0]["content"].as_str().unwrap().contains("is_bug"));
    assert_eq!(bodies[1]["messages"][1]["content"], "It is fine, I think.");
    assert!(bodies[1]["messages"][2]["content"].as_str().unwrap().contains("holds no JSON object"));
}

#[tokio::test]
async fn a_document_that_stays_unfit_is_none() {
    let server = Server::start(vec![says("{\"is_bug\": \"maybe\"}"), says("sorry")]).await;
    let request = ChatRequest { output: Some(review()), ..request() };
    let answer =
        chat(&client(settings(&server)), &server, &Record::default(), "any", &request).await.unwrap();
    assert_eq!((answer.document, answer.content.as_str()), (None, "{\"is_bug\": \"maybe\"}"));
    assert_eq!((server.bodies().len(), answer.usage.total_tokens()), (2, 30));
}

#[tokio::test]
async fn a_repair_that_the_budget_denies_leaves_the_paid_answer() {
    let server = Server::start(vec![says("no idea")]).await;
    let request = ChatRequest { output: Some(review()), ..request() };
    let record = Record { allowed: Some(1), ..Record::default() };
    let answer = chat(&client(settings(&server)), &server, &record, "any", &request).await.unwrap();
    assert_eq!((answer.content.as_str(), answer.document), ("no idea", None));
}

#[tokio::test]
async fn a_repair_that_fails_leaves_the_paid_answer_whatever_failed() {
    for fault in [
        error(500, "", &json!({"message": "down"})),
        error(401, "", &json!({"message": "expired"})),
        error(429, "", &json!({"message": "quota", "type": "insufficient_quota"})),
        error(400, "", &json!({"message": "no"})),
        response(200, "", "<html>"),
        Act::Write(Vec::new()),
    ] {
        let server = Server::start(vec![says("no idea"), fault]).await;
        let request = ChatRequest { output: Some(review()), ..request() };
        let answer =
            chat(&client(settings(&server)), &server, &Record::default(), "any", &request).await.unwrap();
        assert_eq!((answer.content.as_str(), answer.document), ("no idea", None));
        assert_eq!(answer.usage.total_tokens(), 15, "the first turn's alone was told");
    }
}

#[tokio::test]
async fn usage_that_no_server_told_is_never_too_low() {
    let hi = || stream(&[delta(&json!({"content": "hi"}), Some("stop"))]);
    let server = Server::start(vec![hi()]).await;
    let client = client(settings(&server));
    let output = async |model: &str| {
        let record = Record::default();
        let usage = chat(&client, &server, &record, model, &request()).await.unwrap().usage;
        assert_eq!(record.settled.lock().unwrap().as_slice(), [(1, Settled::Used(usage))]);
        assert!(usage.estimated && usage.input_tokens == record.reserved.lock().unwrap()[0].1.input_tokens);
        (usage.output_tokens, usage.cost)
    };
    assert_eq!(output("plain").await, (1, None));
    assert_eq!(output("any").await, (4096, None), "it may have thought unseen");
    let record = Record::default();
    let usage = chat(&client, &server, &record, "priced", &request()).await.unwrap().usage;
    assert_eq!((usage.output_tokens, usage.cost), (100, record.reserved.lock().unwrap()[0].1.cost));
}

#[tokio::test]
async fn a_server_that_uses_more_than_the_worst_case_is_told_and_remembered() {
    let used = |input: u64, output: u64| {
        stream(&[delta(&json!({"content": "fine"}), Some("stop")), usage(input, output)])
    };
    let server = Server::start(vec![used(500, 130), used(10, 5), used(500, 130), used(500, 131)]).await;
    let client = client(settings(&server));
    let model = crate::ModelName { provider: "openai".into(), model: "priced".into() };
    let before = client.worst_case(&model, &request());
    let tries = async || {
        let record = Record::default();
        chat(&client, &server, &record, "priced", &request()).await.unwrap();
        let events = record.events.lock().unwrap().clone();
        let exceeded = events.into_iter().find(|event| matches!(event, CallEvent::ExceededWorstCase { .. }));
        let worst = record.reserved.lock().unwrap()[0].1;
        (worst, exceeded)
    };
    let (worst, exceeded) = tries().await;
    let Some(CallEvent::ExceededWorstCase { attempt: 1, worst: told, used }) = exceeded else { panic!() };
    assert_eq!((worst, told, used.input_tokens, used.output_tokens), (before, before, 500, 130));
    // Neither the second, cheap try nor the third, which is covered now, is told; the fourth is again.
    let learnt = client.worst_case(&model, &request());
    assert_eq!((learnt.input_tokens, learnt.output_tokens), (500, 130));
    assert_eq!(learnt.cost, Some(Usd::from_nanos(500 * 1_000 + 130 * 10_000)));
    assert_eq!(tries().await, (learnt, None));
    assert_eq!(tries().await, (learnt, None));
    assert!(tries().await.1.is_some());
    let other = crate::ModelName { model: "plain".into(), ..model };
    assert_eq!(client.worst_case(&other, &request()).input_tokens, before.input_tokens);
}

#[tokio::test]
async fn a_denied_try_is_not_sent() {
    let server = Server::start(vec![says("fine")]).await;
    let record = Record { allowed: Some(0), ..Record::default() };
    let failure = chat(&client(settings(&server)), &server, &record, "any", &request()).await.unwrap_err();
    assert!(matches!(failure, Error::Denied(_)) && server.bodies().is_empty());
    assert!(failure.to_string().contains("$1.00"), "{failure}");
}

#[tokio::test]
async fn money_is_reserved_from_above_and_settled_exactly() {
    let server = Server::start(vec![says(""), says("fine")]).await;
    let record = Record::default();
    let answer = chat(&client(settings(&server)), &server, &record, "priced", &request()).await.unwrap();
    let price = |input: i64, output: i64| Some(Usd::from_nanos(input * 1_000 + output * 10_000));
    assert_eq!(answer.usage.cost, price(20, 10), "the empty answer was paid for too");
    for (_, worst) in record.reserved.lock().unwrap().iter() {
        assert_eq!(
            (worst.output_tokens, worst.cost),
            (100, price(i64::try_from(worst.input_tokens).unwrap(), 100))
        );
        assert!(worst.input_tokens >= 10);
    }
    let settled = record.settled.lock().unwrap();
    assert!(
        settled
            .iter()
            .all(|(_, settled)| matches!(settled, Settled::Used(used) if used.cost == price(10, 5)))
    );
}

#[tokio::test]
async fn a_prompt_beyond_the_window_is_not_sent() {
    let server = Server::start(vec![says("fine")]).await;
    let client = client(settings(&server));
    let prompt = |words: usize| ChatRequest {
        messages: vec![Message::text(Speaker::User, "forest ".repeat(words))],
        ..ChatRequest::default()
    };
    // Estimated at more than the window, counted at less.
    chat(&client, &server, &Record::default(), "priced", &prompt(1_500)).await.unwrap();
    let failure = chat(&client, &server, &Record::default(), "priced", &prompt(2_500)).await.unwrap_err();
    let Error::Request(ChatError::ContextTooLong { prompt_tokens, output_tokens: 100, window: 2000 }) =
        failure
    else {
        panic!("{failure}")
    };
    assert!((2_500..2_600).contains(&prompt_tokens), "{prompt_tokens}");
}

/// Words of random letters are among the few texts whose estimate is below the count.
#[tokio::test]
async fn near_the_window_the_larger_of_estimate_and_count_is_reserved() {
    let server = Server::start(vec![says("fine")]).await;
    let client = client(settings(&server));
    let prompt = |random: usize, plain: usize| {
        let mut rng = podium_types::rng::Rng::new(7);
        let mut letter = || char::from(*rng.pick(b"zqxjkvwuioea").unwrap());
        let mut word = || std::iter::repeat_with(&mut letter).take(20).collect::<String>() + " ";
        let text =
            std::iter::repeat_with(&mut word).take(random).collect::<String>() + &"forest ".repeat(plain);
        ChatRequest { messages: vec![Message::text(Speaker::User, text)], ..ChatRequest::default() }
    };
    let counts = |request: &ChatRequest| (crate::tokens::estimate(request), crate::tokens::exact(request));
    let fits = prompt(120, 290);
    let (estimate, exact) = counts(&fits);
    assert!(estimate > 1_400 && estimate < exact && exact < 1_900, "{estimate}, {exact}");
    let record = Record::default();
    chat(&client, &server, &record, "priced", &fits).await.unwrap();
    assert_eq!(record.reserved.lock().unwrap()[0].1.input_tokens, exact);
    let too_long = prompt(190, 60);
    let (estimate, exact) = counts(&too_long);
    assert!(estimate > 1_400 && estimate <= 1_900 && exact > 1_900, "{estimate}, {exact}");
    let failure = chat(&client, &server, &Record::default(), "priced", &too_long).await.unwrap_err();
    assert!(matches!(failure, Error::Request(ChatError::ContextTooLong { .. })), "{failure}");
}

#[tokio::test]
async fn a_prompt_that_a_server_cut_is_told() {
    let told = |tokens: u64| stream(&[delta(&json!({"content": "fine"}), Some("stop")), usage(tokens, 5)]);
    let text = "It was the best of times, it was the worst of times.\n".repeat(300);
    let request =
        ChatRequest { messages: vec![Message::text(Speaker::User, text)], ..ChatRequest::default() };
    let counted = crate::tokens::exact(&request);
    for (seen, is_told) in
        [(2_050, true), (counted * 6 / 10, true), (counted * 8 / 10, false), (counted, false), (0, false)]
    {
        let server = Server::start(vec![told(seen)]).await;
        let record = Record::default();
        chat(&client(settings(&server)), &server, &record, "any", &request).await.unwrap();
        let events = record.events.lock().unwrap().clone();
        let event = events.into_iter().find(|event| matches!(event, CallEvent::Truncated { .. }));
        assert_eq!(event, is_told.then_some(CallEvent::Truncated { counted, told: seen }), "{seen}");
    }
}

#[tokio::test]
async fn stop_texts_hold_even_where_the_server_overlooks_them() {
    let server = Server::start(vec![says("one\nObservation: two")]).await;
    let request = ChatRequest { stop: vec!["Observation:".into()], ..request() };
    let answer =
        chat(&client(settings(&server)), &server, &Record::default(), "any", &request).await.unwrap();
    assert_eq!((answer.content.as_str(), answer.finish), ("one\n", FinishReason::Stop));
}

#[tokio::test]
async fn a_schema_that_is_none_is_not_paid_for() {
    for schema in [json!({"type": 3}), json!("x"), json!({"$ref": "#/$defs/gone"})] {
        let server = Server::start(vec![says("fine")]).await;
        let output = Some(OutputSchema { schema: schema.clone(), ..review() });
        let request = ChatRequest { output, ..request() };
        let failure = chat(&client(settings(&server)), &server, &Record::default(), "any", &request).await;
        assert!(
            matches!(failure, Err(Error::Request(ChatError::InvalidSchema { .. }))),
            "{schema}: {failure:?}"
        );
        assert!(server.bodies().is_empty(), "{schema}");
    }
}

#[tokio::test]
async fn calls_beside_a_cut_text_stay_the_end_of_the_answer() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{}"}});
    let server = Server::start(vec![stream(&[
        delta(&json!({"content": "one END two"}), None),
        delta(&json!({"tool_calls": [call]}), Some("tool_calls")),
        usage(10, 5),
    ])])
    .await;
    let request = ChatRequest { stop: vec!["END".into()], ..request() };
    let answer =
        chat(&client(settings(&server)), &server, &Record::default(), "any", &request).await.unwrap();
    assert_eq!((answer.content.as_str(), answer.finish), ("one ", FinishReason::ToolCalls));
    assert_eq!(answer.tool_calls.len(), 1);
}

#[tokio::test]
async fn an_answer_that_stays_empty_is_returned_as_it_is() {
    let server = Server::start(vec![says("")]).await;
    let answer =
        chat(&client(settings(&server)), &server, &Record::default(), "any", &request()).await.unwrap();
    assert_eq!((answer.content.as_str(), server.bodies().len(), answer.usage.total_tokens()), ("", 3, 45));
}
