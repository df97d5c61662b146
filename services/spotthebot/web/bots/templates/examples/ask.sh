curl http://127.0.0.1:9000/reply -H "Content-Type: application/json" -d '{
  "conversation_id": "0199a1b2-0000-7000-8000-000000000001", "turn": 1,
  "domain": "everyday", "persona": null, "speaker": "B", "seed": 7,
  "turns": [{"speaker": "A", "text": "Good morning! Did you sleep well?"}]}'
